/** A read, once more when it fails: a connection kept from an earlier server on the same port breaks at its first use. */
export async function retried<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch {
    return read()
  }
}
