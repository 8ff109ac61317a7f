export async function checkReady(_state: string): Promise<void> {}
