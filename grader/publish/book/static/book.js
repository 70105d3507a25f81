// The look-up of the first page: what `kata find` does, on the same tables, which lookup.js holds. Needs no server.
"use strict";

const regex = (pattern, flags) => new RegExp(pattern, flags);

function stem(word) {
  for (const [ending, left] of LOOKUP.endings) {
    if (!word.endsWith(ending) || word.length - ending.length + left.length < LOOKUP.shortest) continue;
    if (ending === "s" && word.endsWith("ss")) continue;
    word = word.slice(0, word.length - ending.length) + left;
    break;
  }
  return word.length > LOOKUP.shortest && word.at(-1) === word.at(-2) ? word.slice(0, -1) : word;
}

function words(text) {
  const found = [];
  for (const [name] of text.replace(regex(LOOKUP.address, "gi"), " ").matchAll(regex(LOOKUP.word, "g"))) {
    found.push(name.replaceAll("_", "").toLowerCase());
    const pieces = name.split("_");
    const parts = pieces.flatMap((piece) => piece.match(regex(LOOKUP.hump, "g")) ?? [])
      .filter((part) => part.length >= LOOKUP.shortest);
    if (pieces.length > 1 || parts.length > 1) found.push(...parts.map((part) => part.toLowerCase()));
  }
  return found;
}

function known(word) {
  const same = (name) => (Object.hasOwn(LOOKUP.same, name) ? LOOKUP.same[name] : "");
  return (same(word) || same(stem(word)) || word).split(" ")
    .filter((part) => !LOOKUP.silent.includes(part) && part.length > 1 && !/^\d+$/.test(part)).map(stem);
}

const terms = (text) => words(text).flatMap(known);

// The last error of a pasted traceback, else all that was asked.
function messageOf(asked) {
  const raised = [...asked.matchAll(regex(LOOKUP.raised, "gm"))];
  if (!raised.length) return asked;
  const last = raised.at(-1), rest = asked.slice(last.index + last[0].length);
  const below = rest.search(regex(LOOKUP.trace, "m"));
  return (last[0] + (below < 0 ? rest : rest.slice(0, below))).trim();
}

const rarity = (term) => (Object.hasOwn(LOOKUP.rarity, term) ? LOOKUP.rarity[term] : 0);

function ranked(asked, weights) {
  const [first, ...below] = asked.trim().split(/(?<!:)\s*\n/);
  const wanted = new Map(terms(below.join("\n")).map((term) => [term, LOOKUP.below]));
  for (const term of terms(first)) wanted.set(term, 1);
  const scores = new Map();
  for (const [term, weight] of wanted) {
    for (const [place, score] of (rarity(term) ? LOOKUP.postings[term] : [])) {
      scores.set(place, (scores.get(place) ?? 0) + weight * score);
    }
  }
  // With how much of what is asked the nearest name has, times the share that this is of the name.
  const weighed = (entry, score) => {
    let share = 0, named = 0;
    for (const name of entry.names) {
      const whole = name.reduce((sum, term) => sum + rarity(term), 0);
      const shared = name.reduce((sum, term) => sum + rarity(term) * (wanted.get(term) ?? 0), 0);
      share = Math.max(share, shared / whole);
      named = Math.max(named, shared * (shared / whole) ** 2);
    }
    return weights[entry.kind] * (score + LOOKUP.name * named) * (entry.kind === "message" ? share : 1);
  };
  return [...scores]
    .map(([place, score]) => [weighed(LOOKUP.entries[place], score), place])
    .sort((a, b) => b[0] - a[0] || a[1] - b[1]);
}

// Letters to change to make one word of another.
function distance(one, other) {
  let row = [...Array(other.length + 1).keys()];
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      next.push(Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1);
}

function nearest(asked) {
  return terms(asked).map((term) => {
    const near = Object.keys(LOOKUP.rarity).map((other) => [distance(term, other), other]).sort((a, b) => a[0] - b[0]);
    return near[0][0] <= term.length / 3 ? near[0][1] : "";
  }).join(" ").trim();
}

// Entries, the likeliest first; and the words that found them, where those asked for are nowhere.
function find(asked) {
  const wanted = messageOf(asked);
  const weights = regex(LOOKUP.raised, "m").test(asked) ? LOOKUP.printed : LOOKUP.weights;
  let found = ranked(wanted, weights), instead = "";
  if (!found.length) found = ranked((instead = nearest(wanted)), weights);
  const least = found.length ? found[0][0] * LOOKUP.share : 0;
  return { instead, entries: found.filter(([score]) => score >= least).map(([, place]) => LOOKUP.entries[place]) };
}

// Text with its code in backticks, and the words that were asked for in bold.
function told(element, text, asked) {
  const wanted = new Set(terms(asked));
  text.split("`").forEach((part, place) => {
    const into = place % 2 ? element.appendChild(document.createElement("code")) : element;
    for (const piece of part.split(/(\w+)/)) {
      const isAsked = /\w/.test(piece) && terms(piece).some((term) => wanted.has(term));
      into.append(isAsked ? Object.assign(document.createElement("mark"), { textContent: piece }) : piece);
    }
  });
  return element;
}

// Of a long text the part around the first word that was asked for.
function excerpt(text, asked) {
  const wanted = new Set(terms(asked));
  const at = [...text.matchAll(/\w+/g)].find(([word]) => terms(word).some((term) => wanted.has(term)))?.index ?? 0;
  const from = at < 120 ? 0 : text.indexOf(" ", at - 80) + 1;
  const part = text.slice(from, from + 240);
  return (from ? "… " : "") + (from + 240 < text.length ? `${part.slice(0, part.lastIndexOf(" "))} …` : part);
}

function item(entry, asked) {
  const line = document.createElement("li");
  const name = document.createElement(entry.page ? "a" : "code");
  if (entry.page) name.href = entry.page;
  name.textContent = entry.title;
  const kind = Object.assign(document.createElement("span"), { className: "kind", textContent: ` ${entry.kind}` });
  line.append(name, kind, told(document.createElement("p"), excerpt(entry.text, asked), asked));
  if (entry.where.length) {
    const where = Object.assign(document.createElement("p"), { className: "where" });
    for (const [slug, page] of entry.where) {
      where.append(Object.assign(document.createElement("a"), { href: page, textContent: slug }), " ");
    }
    line.append(where);
  }
  return line;
}

function show(asked) {
  const { instead, entries } = asked.trim() ? find(asked) : { instead: "", entries: [] };
  const note = document.getElementById("nearest");
  note.textContent = instead ? `Nothing is about these words; the nearest, by “${instead}”:` : "";
  if (asked.trim() && !entries.length) note.textContent = "Nothing is about these words: try others, or the error's last line.";
  document.getElementById("found").replaceChildren(...entries.slice(0, 12).map((entry) => item(entry, asked)));
}

const box = document.getElementById("asked");
if (box) {
  box.value = new URLSearchParams(location.search).get("q") ?? "";
  box.addEventListener("input", () => show(box.value));
  show(box.value);
}
