// Values in the browser's storage; if storage is forbidden, they last as long as the page is open.

class Store {
  constructor(find) {
    this.found = new Map();
    this.find = find;
  }

  get(key) {
    let kept = null;
    try {
      kept = this.find().getItem(key);
    } catch {
      // No storage: the value in memory.
    }
    return kept ?? this.found.get(key) ?? null;
  }

  set(key, value) {
    this.found.set(key, value);
    try {
      this.find().setItem(key, value);
    } catch {
      // No storage: in memory only.
    }
  }
}

export const forTheTab = new Store(() => sessionStorage);
export const forGood = new Store(() => localStorage);
