/** Under the sandbox's and the command's own environment; nothing of the host's is in it. */
export const ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  LANG: "C.UTF-8",
  USER: "root",
  LOGNAME: "root",
  SHELL: "/bin/bash",
  DEBIAN_FRONTEND: "noninteractive",
};

/** As execve takes it: `NAME=value`, each ended by a NUL. */
export function environmentBlock(environment: Readonly<Record<string, string>>): string {
  return Object.entries(environment)
    .map(([name, value]) => {
      if (/[=\0]/.test(name) || name === "" || value.includes("\0")) {
        throw new Error(
          `environment: ${JSON.stringify(name)} is no variable's name or its value has a NUL byte`,
        );
      }
      return `${name}=${value}\0`;
    })
    .join("");
}
