/** Something that gives back what it holds. Calling it twice is harmless. */
export interface Disposable {
  dispose(): void;
}

/** Owns several disposables and disposes them in reverse order. */
export class DisposableStack implements Disposable {
  private readonly items: Disposable[] = [];

  add<T extends Disposable>(item: T): T {
    this.items.push(item);
    return item;
  }

  dispose(): void {
    for (const item of this.items.splice(0).reverse()) item.dispose();
  }
}
