/** A distribution's name as indexes compare it (PEP 503). */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}

/** The distribution that a requirement names; empty when it names none. */
export function nameOf(requirement: string): string {
  return plainName(/^\s*([A-Za-z0-9][A-Za-z0-9._-]*)/.exec(requirement)?.[1] ?? "");
}

/** Each once, by name; the first one counts. */
export function uniqueByName(requirements: readonly string[]): string[] {
  const seen = new Map<string, string>();
  for (const requirement of requirements) {
    const key = nameOf(requirement);
    if (key !== "" && !seen.has(key)) seen.set(key, requirement);
  }
  return [...seen.values()];
}

/** Whether a distribution of this name may well bring the module: `yaml` of PyYAML, `dateutil` of python-dateutil. */
export function mayBring(distribution: string, module: string): boolean {
  const name = plainName(distribution).replaceAll("-", "");
  const wanted = plainName(module).replaceAll("-", "");
  if (name === wanted) return true;
  return wanted.length >= 3 && name.replace(/^python|^py|^django|python$|py$/g, "").startsWith(wanted);
}
