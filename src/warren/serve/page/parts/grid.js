// Lag by partition and time: what the chart sums up and the heat map shows.

export const COLUMNS = 96;
const MOST_SEEN = 600; // of one partition
const MOST_SEEN_IN_ALL = 100_000; // a page may be open for weeks
const SHORTEST_MS = 5000;

// `lines`: for each partition { topic, partition, status, points: [[ms, lag, status?], ...] },
// oldest first. Between two points the lag is taken to change evenly. `ends` are the moments between
// which the cells of a row lie.
export function gridOf(lines, fromMs, toMs) {
  const step = (toMs - fromMs) / (COLUMNS - 1) || 1;
  const times = Array.from({ length: COLUMNS }, (_, at) => fromMs + at * step);
  const rows = lines.map((line) => ({ ...line, ...rowOf(line.points, times) }));
  const known = rows.filter((row) => row.points.length).map(backwards);
  const over = (combine) =>
    times.map((_, at) => (known.length ? known.map((lags) => lags[at]).reduce(combine) : null));
  return {
    times,
    ends: [fromMs, toMs],
    rows,
    total: over((sum, lag) => sum + lag),
    worst: over((most, lag) => Math.max(most, lag)),
  };
}

// An unknown lag counts as the next known one, so that a window that begins later than the others
// makes no jump.
function backwards({ lags, points }) {
  const first = points[0][1];
  return lags.map((lag) => lag ?? first);
}

function rowOf(points, times) {
  const lags = new Array(times.length).fill(null);
  const statuses = new Array(times.length).fill("");
  let at = 0;
  times.forEach((time, column) => {
    while (at + 1 < points.length && points[at + 1][0] <= time) at += 1;
    if (!points.length || points[at][0] > time) return;
    const [ms, lag, status] = points[at];
    const next = points[at + 1];
    const part = next ? (time - ms) / (next[0] - ms) : 0;
    lags[column] = next ? lag + (next[1] - lag) * part : lag;
    statuses[column] = status ?? "";
  });
  return { lags, statuses };
}

// The windows of /v4/windows with the partitions of /v4/group, which are in the same order. A
// window tells few statuses of the past: `seen` keeps what was seen as long as the page is open.
export function linesOf(windows, partitions, seen) {
  const most = Math.min(MOST_SEEN, Math.ceil(MOST_SEEN_IN_ALL / windows.partitions.length));
  return windows.partitions.map((window, at) => {
    const { topic, partition, committed_ms } = window;
    const { status, current_lag } = partitions[at];
    const last = committed_ms.at(-1);
    const own = seen.get(`${topic}\n${partition}`) ?? [];
    seen.set(`${topic}\n${partition}`, own);
    while (own.at(-1)?.[0] >= windows.now_ms) own.pop(); // it is judged anew as of then
    if (last !== undefined) own.push([windows.now_ms, current_lag, status]);
    own.splice(0, own.length - most);
    const commits = committed_ms.map((ms, number) => [
      ms,
      window.lag[number],
      window.status[number],
    ]);
    const before = own[0]?.[0] ?? Infinity;
    const points = commits.filter(([ms, lag]) => lag !== null && ms < before);
    const stop = stopped(committed_ms, points.at(-1), own[0]);
    return { topic, partition, status, points: [...points, ...stop, ...own] };
  });
}

// A partition stopped when its silence grew longer than the window, not at its last commit.
function stopped(committed_ms, last, next) {
  if (!last || next?.[2] !== "STOP") return [];
  const [lastMs, lag] = last;
  const ms = 2 * committed_ms.at(-1) - committed_ms[0];
  if (ms >= next[0] || ms <= lastMs) return [];
  return [[ms, lag + ((next[1] - lag) * (ms - lastMs)) / (next[0] - lastMs), "STOP"]];
}

// Where the time axis begins: half of the windows, or what was seen, reach back that far.
export function beginning(windows, seen) {
  const firsts = windows.partitions
    .map((window) => window.committed_ms[0])
    .filter((ms) => ms !== undefined);
  firsts.sort((a, b) => a - b);
  const median = firsts[Math.floor(firsts.length / 2)] ?? windows.now_ms;
  const firstSeen = Math.min(...[...seen.values()].map((own) => own[0]?.[0] ?? Infinity));
  return Math.min(median, firstSeen, windows.now_ms - SHORTEST_MS);
}

// The same from /v4/history.
export function gridOfHistory(history) {
  const { heat_map: map } = history;
  const rows = map.partitions.map((kept, at) => ({
    ...kept,
    lags: map.lag[at],
    statuses: map.status[at],
  }));
  return { times: map.times_ms, ends: [history.since_ms, history.until_ms], rows };
}
