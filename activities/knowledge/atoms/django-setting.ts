import { quote } from "./quote.ts";

/** The settings module that lies over the project's own. */
export const OVERLAY_MODULE = "setup_overlay_settings";

/**
 * Writes the overlay among the interpreter's packages, where every later process of it finds it: the project's own
 * settings, then one line a setting. Finds the own settings where Django projects name them.
 */
const SCRIPT = `
import json, os, pathlib, re, sys, sysconfig
key, value, overlay = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
path = pathlib.Path(sysconfig.get_path("purelib")) / (overlay + ".py")
if not path.exists():
    own = os.environ.get("DJANGO_SETTINGS_MODULE", "")
    places = [pathlib.Path(p) for p in ("manage.py", "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini")]
    places += sorted(pathlib.Path(".").glob("*/manage.py"))
    for place in places:
        if own and own != overlay:
            break
        text = place.read_text(errors="replace") if place.exists() else ""
        found = re.search(r"DJANGO_SETTINGS_MODULE[\\W]+([A-Za-z_][\\w.]*)", text)
        own = found.group(1) if found else ""
    if not own or own == overlay:
        sys.exit("no settings module found: set DJANGO_SETTINGS_MODULE to the project's own")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("from %s import *  # noqa\\n" % own)
with path.open("a") as file:
    file.write("%s = %r\\n" % (key, value))
`;

/** One command that gives `key` a value for good; the frame's DJANGO_SETTINGS_MODULE must then be the overlay. */
export function djangoSettingCommand(python: string, key: string, value: unknown): string {
  return `${quote(python)} -c ${quote(SCRIPT)} ${quote(key)} ${quote(jsonOf(value))} ${OVERLAY_MODULE}`;
}

/** A text that is JSON already (`"true"`, `"[1]"`) means that value, other text itself. */
function jsonOf(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const literal = { True: true, False: false, None: null }[value];
  if (literal !== undefined) return JSON.stringify(literal);
  try {
    return JSON.stringify(JSON.parse(value));
  } catch (error) {
    if (error instanceof SyntaxError) return JSON.stringify(value);
    throw error;
  }
}
