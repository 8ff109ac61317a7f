/** Makes something when it is first asked for, and again after a failure. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  const made = onceEach(make);
  return () => made("");
}

/** The same for each key. */
export function onceEach<T>(make: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const all = new Map<string, Promise<T>>();
  return (key) => {
    const known = all.get(key);
    if (known !== undefined) return known;
    const making = make(key);
    all.set(key, making);
    making.catch(() => all.delete(key));
    return making;
  };
}
