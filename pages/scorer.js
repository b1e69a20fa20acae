// Ranks search results: headings that contain the words, then names, then text.
var Scorer = {
  score: ([docname, title, anchor, description, score, file, kind]) =>
    kind === "title" ? score + 50 : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
