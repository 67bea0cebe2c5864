// What a browser keeps for us; one that is told to keep nothing does so as long as the page is open.

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
      // Then what is known here.
    }
    return kept ?? this.found.get(key) ?? null;
  }

  set(key, value) {
    this.found.set(key, value);
    try {
      this.find().setItem(key, value);
    } catch {
      // Then only here.
    }
  }
}

export const forTheTab = new Store(() => sessionStorage);
export const forGood = new Store(() => localStorage);
