// What a search puts first: Sphinx reads this in place of its own weights. Titles weigh more than text; pages that re-run what a
// paper prints more than other pages, and these more than the API, unless the query looks like a name of the library.
const asked = () => (new URLSearchParams(location.search).get("q") || "").toLowerCase();
const stems = text => (text.toLowerCase().match(/[\p{Letter}\p{Number}_]+/gu) || []).map(word => word.replace(/(?<=...)s$/, ""));
var Scorer = {
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
  // Within a title the share of the query's words counts, numbers and "which" among them, then how they stand together, then how
  // much of the title they are.
  score([page, title, anchor, description, score]) {
    const query = stems(asked()), within = title.split(" > ").pop();
    const words = stems(within), joined = ` ${words.join(" ")} `;
    const share = query.filter(word => words.some(other => other === word || (word.length > 3 && other.startsWith(word)))).length / query.length;
    let points = score + 20 * share;
    if (share === 1) {
      points += 20 + (4 * query.length) / words.length;
      if (joined.includes(` ${query.join(" ")} `)) points += 10;
      if (joined.startsWith(` ${query[0]} `)) points += 10;
    }
    const wanted = stems((window.WANTED || {})[page] || "");
    points += 60 * query.filter(word => wanted.includes(word)).length / query.length;
    if (description) points -= /[._]/.test(asked()) ? 0 : 40;
    else if (anchor) points -= 15;
    if (/\((Figure|Table|Theorem|Corollar|Lemma|Equation|Algorithm)/.test(title)) points += 5;
    return points - (page.startsWith("book/api/") ? 10 : 0);
  },
};
