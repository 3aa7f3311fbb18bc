// The arithmetic of attention and of sampling, written out once, on plain arrays of numbers.

export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += a[i] * b[i];
  return sum;
}

export function add(a, b) {
  return a.map((value, i) => value + b[i]);
}

// The largest score is subtracted, so that exp cannot overflow. A masked score, -Infinity, gets
// exactly 0; where all are masked, all shares are 0.
export function softmax(scores) {
  const largest = Math.max(...scores);
  const exps = scores.map((s) => (s === -Infinity ? 0 : Math.exp(s - largest)));
  const total = exps.reduce((a, b) => a + b, 0);
  return { largest, exps, total, shares: exps.map((e) => (total > 0 ? e / total : 0)) };
}

// The weighted sum of vectors: what a query takes from the values.
export function blend(shares, vectors) {
  const sum = new Array(vectors[0].length).fill(0);
  shares.forEach((share, row) => {
    if (share > 0) vectors[row].forEach((value, i) => { sum[i] += share * value; });
  });
  return sum;
}

// One query of one head, from its vectors alone. Additive attention scores with a small network
// whose weights are not in the trace, so there the scores are taken from it.
export function attend({ query, keys, values, scale, kept, given }) {
  const dots = given ? null : keys.map((key) => dot(query, key));
  const scaled = given ?? dots.map((value) => value * scale);
  const masked = scaled.map((score, j) => (kept && !kept[j] ? -Infinity : score));
  const soft = softmax(masked);
  return { dots, scaled, masked, ...soft, output: blend(soft.shares, values) };
}

export function layerNorm(vector, { weight, bias, epsilon }) {
  const mean = vector.reduce((a, b) => a + b, 0) / vector.length;
  const variance = vector.reduce((a, b) => a + (b - mean) ** 2, 0) / vector.length;
  const deviation = Math.sqrt(variance + epsilon);
  const normed = vector.map((x, i) => ((x - mean) / deviation) * weight[i] + bias[i]);
  return { mean, variance, deviation, normed };
}

// The chance of each of the top pieces after temperature, top-k and top-p, in the order in which
// the sampler applies them. `rest` of a step is the logsumexp of all other logits at each
// temperature, so the probabilities are exact. Only where top-p reaches beyond the ten is the kept
// mass unknown: then `open` is true and nothing is renormalised.
export function sample(step, temperature, topK, topP) {
  const logits = step.top.map((each) => each.logit / Number(temperature));
  const rest = step.rest[temperature] ?? -Infinity;
  const all = softmax([...logits, rest]).shares;
  let other = all.pop();
  let shares = all;
  if (topK) {
    shares = shares.map((share, i) => (i < topK ? share : 0));
    shares = divided(shares, total(shares));
    other = 0;
  }
  let open = false;
  if (topP < 1) {
    let before = 0;
    shares = shares.map((share) => {
      const kept = before < topP ? share : 0;
      before += share;
      return kept;
    });
    open = before < topP && other > 0;
    if (!open) {
      other = 0;
      shares = divided(shares, total(shares));
    }
  }
  return { shares, other, open };
}

function total(values) {
  return values.reduce((a, b) => a + b, 0);
}

function divided(values, by) {
  return by > 0 ? values.map((value) => value / by) : values;
}

// Numbers as people read them: a true minus sign, and no "-0.00".
export function shown(value, decimals = 2) {
  if (value === -Infinity) return "−∞";
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

export function percent(share) {
  if (share > 0 && share < 0.001) return "<0.1%";
  return `${(100 * share).toFixed(1)}%`;
}
