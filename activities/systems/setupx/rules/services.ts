/** Whatever the environment says of another host. */
const SOCKET = "-h /var/run/postgresql";
const psql = `su postgres -c "psql ${SOCKET}`;

/** How a service that CI starts is had here. Nothing starts by being installed in an image: each is started by name. */
const SERVICES: Readonly<Record<string, { packages: string; start: (variables: Variables) => string }>> = {
  postgres: {
    packages: "postgresql postgresql-client",
    start: (variables) => {
      const user = word(variables.POSTGRES_USER ?? "postgres");
      const password = word(variables.POSTGRES_PASSWORD ?? "postgres");
      const database = word(variables.POSTGRES_DB ?? user);
      const role = `CREATE ROLE ${user} SUPERUSER LOGIN` + ` PASSWORD '${password}'`;
      return [
        `service postgresql start && for second in 1 2 3 4 5 6 7 8 9; do ${psql} -c ''" && break; sleep 1; done`,
        `${psql} -c \\"${role}\\" || ${psql.slice('su postgres -c "'.length)} -c \\"ALTER USER ${user} PASSWORD '${password}'\\""`,
        `{ su postgres -c "createdb ${SOCKET} -O ${user} ${database}" || true; }`,
      ].join(" && ");
    },
  },
  mysql: mysql(),
  mariadb: mysql(),
  redis: { packages: "redis-server", start: () => "redis-server --daemonize yes" },
  memcached: { packages: "memcached", start: () => "memcached -d -u nobody" },
};

type Variables = Readonly<Record<string, string>>;

function mysql() {
  return {
    packages: "mariadb-server",
    start: (variables: Variables) => {
      const password = word(variables.MYSQL_ROOT_PASSWORD ?? "");
      const database = word(variables.MYSQL_DATABASE ?? "test");
      const login = password === "" ? "" : `ALTER USER root@localhost IDENTIFIED BY '${password}';`;
      return `service mariadb start && sleep 5 && mysql -e "CREATE DATABASE IF NOT EXISTS ${database}; ${login}"`;
    },
  };
}

/** What strangers wrote into CI's variables becomes part of a command: letters and digits alone. */
function word(text: string): string {
  return /^[A-Za-z0-9_]*$/.test(text) ? text : "test";
}

/** Installs and starts the service; null for one that is not known here. */
export function serviceCommand(service: string, variables: Variables): string | null {
  const known = Object.hasOwn(SERVICES, service) ? SERVICES[service] : undefined;
  if (known === undefined) return null;
  const install = `apt-get update -qq && apt-get install -y -qq --no-install-recommends ${known.packages}`;
  return `${install} && ${known.start(variables)}`;
}
