// Everything the page says, English beside Korean. {0}, {1}, ... stand for what is filled in; a
// name of the trace, such as that of a stack, has its words under what it is and its name.

export const PHRASES = {
  otherLanguage: ["한국어", "English"],
  dark: ["Dark", "어둡게"],
  skip: ["Skip to the content", "본문으로 건너뛰기"],
  motto: ["the Transformer, seen from inside", "속이 보이는 트랜스포머"],
  footer: [
    "Every number here was recorded in one pass of the model.",
    "여기 있는 모든 수는 모델이 한 번 지나가는 동안 기록한 것입니다."],
  saveTrace: ["Save the whole trace", "전체 기록 저장"],
  wrongSchema: [
    "This page reads traces of the schema {1}, and this one says {0}.",
    "이 페이지는 {1} 형식의 기록을 읽는데, 이 기록의 형식은 {0}입니다."],
  leftOut: ["Left out of this trace", "이 기록에서 빠진 것"],
  "leftOut-items": [
    "{0}: of {1} items the first {2} are shown", "{0}: 항목 {1}개 가운데 앞의 {2}개만 보입니다"],
  "leftOut-vectors": [
    "the vectors (queries, keys, values and what became of them): too many for one trace; choose "
      + "fewer layers or a shorter sentence",
    "벡터(쿼리, 키, 값과 그 결과): 기록 하나에 담기에는 너무 많습니다. 층을 줄이거나 더 짧은 문장을 "
      + "고르세요"],
  "leftOut-saliency": [
    "the saliency: it is worked out for at most {0} items",
    "현저성: 항목 {0}개까지만 계산합니다"],
  "leftOut-parts": [
    "the text has {0} parts that are translated by themselves; the first is shown",
    "글이 따로 번역되는 {0}부분으로 되어 있어 첫 부분만 보입니다"],
  inside: ["What happened inside", "안에서 일어난 일"],
  views: ["Views", "보기"],
  save: ["Save", "저장"],
  layers: ["layers", "층"],
  headsEach: ["heads", "헤드"],
  parameters: ["parameters", "매개변수"],

  translator: ["Translator", "번역기"],
  from: ["From", "원문 언어"],
  to: ["To", "번역 언어"],
  swap: ["Swap the languages", "언어 맞바꾸기"],
  sourceText: ["Text to translate", "번역할 글"],
  typeHere: ["Type or paste a text", "글을 입력하거나 붙여 넣으세요"],
  shortcut: ["Ctrl + Enter", "Ctrl + Enter"],
  translate: ["Translate", "번역하기"],
  translating: ["Translating…", "번역하는 중…"],
  lookingInside: ["Looking inside…", "안을 들여다보는 중…"],
  noSingleModel: ["No single model did this: nothing to look inside of.",
    "한 모델이 번역한 것이 아니어서 들여다볼 안이 없습니다."],
  alternatives: ["Other ways to say it", "다른 번역"],
  copy: ["Copy", "복사"],
  copied: ["Copied.", "복사했습니다."],
  selected: ["Selected: copy it with Ctrl + C.", "선택했습니다. Ctrl + C로 복사하세요."],
  apiKey: ["API key", "API 키"],
  tryOne: ["Try one of these", "예문으로 해 보기"],
  detect: ["Detect language", "언어 감지"],
  detected: ["detected: {0}, {1}%", "감지된 언어: {0}, {1}%"],
  via: ["by way of {0}", "거쳐 간 언어: {0}"],
  invite: [
    "Below the translation, six views will show how the model came to it.",
    "번역 아래에 모델이 어떻게 번역했는지 여섯 가지 보기로 보여 드립니다."],
  noServer: [
    "The server cannot be reached. Is it still running?",
    "서버에 연결할 수 없습니다. 아직 켜져 있나요?"],
  serverSaid: ["The server answered with {0}.", "서버가 {0} 상태로 답했습니다."],

  headsTab: ["Heads", "헤드"],
  headsTitle: ["Which words look at which", "어느 단어가 어느 단어를 보는가"],
  headsLead: [
    "Each line is one word looking at another; the thicker it is, the more the word takes from "
      + "there. Point at a word to see its lines alone, click it to keep them.",
    "선 하나는 한 단어가 다른 단어를 보는 것입니다. 굵을수록 그 단어에서 더 많이 가져옵니다. 단어를 "
      + "가리키면 그 단어의 선만 보이고, 누르면 고정됩니다."],
  "attention-encoder": ["Encoder", "인코더"],
  "attention-decoder": ["Decoder", "디코더"],
  "attention-cross": ["Cross", "교차"],
  attention: ["Attention", "어텐션"],
  layer: ["Layer", "층"],
  layerNumber: ["Layer {0}", "{0}층"],
  head: ["Head", "헤드"],
  heads: ["Heads", "헤드"],
  headNumber: ["Head {0}", "헤드 {0}"],
  headNumbers: ["Heads {0}", "헤드 {0}"],
  plain: ["{0}", "{0}"],
  allHeads: ["All", "모두"],
  onlyFirst: ["Only the first", "첫째만"],
  word: ["Word", "단어"],
  looks: ["looks …", "보는 단어"],
  lookedAt: ["… at", "보이는 단어"],
  looksMostAt: ["“{0}” looks most at {1}.", "“{0}”에서 가장 많이 보는 곳: {1}."],
  isLookedAtBy: ["“{0}” is looked at most by {1}.", "“{0}”에 눈길을 가장 많이 주는 단어: {1}."],
  pointAtWord: [
    "Point at a word, or go to it with the arrow keys.",
    "단어를 가리키거나 화살표 키로 옮겨 가 보세요."],
  strongestOnly: [
    "The strongest {0} lines are drawn; a single word shows all of its own.",
    "가장 굵은 선 {0}개만 그렸습니다. 단어 하나를 고르면 그 단어의 선은 모두 보입니다."],
  noHead: ["No head is chosen.", "고른 헤드가 없습니다."],
  unpin: ["Unpin", "고정 풀기"],
  seeArithmetic: ["See the arithmetic of this", "이 계산을 단계별로 보기"],
  weightsOf: ["Where “{0}” looks, as a table", "“{0}”에서 보는 곳을 표로"],
  weightsOn: ["What looks at “{0}”, as a table", "“{0}”에 눈길을 주는 단어를 표로"],
  bestHead: [
    "Layer {0}, head {1} finds what “it” stands for in {2}% of {3} held-out sentences. Its "
      + "baseline, pointing always {4} words back, is right in {5}%.",
    "“it”이 가리키는 말을 {0}층 헤드 {1}번이 학습에 쓰지 않은 문장 {3}개의 {2}%에서 찾습니다. 비교 "
      + "기준인 ‘늘 {4}단어 앞을 가리키기’는 {5}%에서 맞습니다."],
  noBestHead: [
    "No head of this model finds what “it” stands for better than the baseline: pointing always "
      + "{4} words back is right in {5}% of {3} held-out sentences, the most accurate head (layer "
      + "{0}, head {1}) in {2}%.",
    "이 모델에는 “it”이 가리키는 말을 비교 기준보다 잘 찾는 헤드가 없습니다. 학습에 쓰지 않은 문장 "
      + "{3}개에서 ‘늘 {4}단어 앞을 가리키기’는 {5}%, 가장 나은 헤드({0}층 헤드 {1}번)는 {2}%에서 "
      + "맞습니다."],

  mapTab: ["Map", "지도"],
  mapTitle: ["Every head at once", "모든 헤드를 한눈에"],
  mapLead: [
    "One small map a head, one row a layer. Down its side stand the words that look, along its "
      + "top the words looked at; the stronger the colour, the larger the share.",
    "작은 그림 하나가 헤드 하나, 한 줄이 한 층입니다. 세로는 보는 단어, 가로는 보이는 단어이고, 색이 "
      + "강할수록 몫이 큽니다."],
  enlarge: ["Layer {0}, head {1}: enlarge", "{0}층 헤드 {1} 크게 보기"],
  allMaps: ["Back to all heads", "모든 헤드로 돌아가기"],
  pointAtCell: ["Point at a cell to read its value.", "칸을 가리키면 값이 보입니다."],
  arrowsRead: ["The arrow keys go from cell to cell.", "화살표 키로 칸을 옮겨 다닙니다."],
  asTable: ["As a table", "표로 보기"],
  share: ["Share", "몫"],

  stepsTab: ["Step by step", "단계별로"],
  stepsTitle: ["The arithmetic of one word", "한 단어의 계산"],
  stepsLead: [
    "All that attention does for one word, in the numbers of your own sentence. Choose another "
      + "word, layer or head and it is worked out again, here in the page.",
    "어텐션이 단어 하나를 위해 하는 일 전부를 여러분 문장의 수로 보여 줍니다. 단어나 층, 헤드를 바꾸면 "
      + "이 페이지 안에서 다시 계산합니다."],
  noVectors: [
    "This trace holds the weights but not the vectors, so the steps between cannot be shown. "
      + "A shorter sentence, or fewer layers, leaves room for them.",
    "이 기록에는 가중치만 있고 벡터가 없어 중간 단계를 보일 수 없습니다. 문장이 더 짧거나 층이 더 "
      + "적으면 벡터도 담깁니다."],
  allCoordinates: ["Show all coordinates", "모든 좌표 보기"],
  fewerCoordinates: ["Show the first coordinates", "앞 좌표만 보기"],
  moreCoordinates: ["Show {0} more coordinates", "좌표 {0}개 더 보기"],
  compareTitle: ["Compare, scale, mask, share out", "견주고, 나누고, 가리고, 몫을 정하기"],
  compareWords: [
    "The query q of “{0}” is multiplied, coordinate by coordinate, with the key k of every word; "
      + "the {1} products add up to one number, large where the two point the same way.",
    "“{0}”의 쿼리 q를 모든 단어의 키 k와 좌표마다 곱하고, 그 곱 {1}개를 더합니다. 두 벡터의 방향이 "
      + "같을수록 큰 수가 됩니다."],
  scaling: [
    "It is divided by √d_k = √{0} = {1} (that is, times {2}), so that long vectors do not make the "
      + "softmax too sure of itself.",
    "이것을 √d_k = √{0} = {1}로 나눕니다(곧 {2}배). 벡터가 길다고 해서 소프트맥스가 한쪽으로 "
      + "치우치지 않게 하려는 것입니다."],
  noScaling: [
    "This model does not divide by √d_k: its dot products are taken as they are.",
    "이 모델은 √d_k로 나누지 않고 내적을 그대로 씁니다."],
  additiveScore: [
    "This model's attention is additive: a small network scores query and key, and no dot product "
      + "is taken or scaled. The scores are those of the trace.",
    "이 모델은 가산 어텐션을 씁니다. 내적도 나눗셈도 없이 작은 신경망이 쿼리와 키의 점수를 매깁니다. "
      + "점수는 기록에 있는 것입니다."],
  maskWords: [
    "Words that may not be seen from here are masked: their score becomes −∞ and their share "
      + "exactly 0.",
    "여기서 보면 안 되는 단어는 가려집니다. 점수가 −∞가 되고 몫은 정확히 0입니다."],
  noMask: ["Nothing is masked here.", "여기서는 아무것도 가려지지 않습니다."],
  softmaxWords: [
    "The softmax turns scores into shares that add up to 1.",
    "소프트맥스는 점수를 더해서 1이 되는 몫으로 바꿉니다."],
  softmaxSum: [
    "largest score {0} · sum of the exponentials {1} · share = exponential ÷ sum",
    "가장 큰 점수 {0} · 지수의 합 {1} · 몫 = 지수 ÷ 합"],
  normFirst: [
    "This model is pre-norm: the word's vector went through LayerNorm first, and q, k and v were "
      + "made from the result.",
    "이 모델은 앞에서 정규화합니다. 단어의 벡터가 먼저 층 정규화를 거치고, 그 결과에서 q, k, v를 "
      + "만들었습니다."],
  key: ["Key", "키"],
  score: ["score", "점수"],
  mask: ["mask", "마스크"],
  masked: ["(masked)", "(가려짐)"],
  expColumn: ["exp(score − largest)", "exp(점수 − 최대)"],
  mixTitle: ["Mix the values", "값을 섞기"],
  mixWords: [
    "Each word also has a value v. Times its share and added up, the values become what this "
      + "head hands to “{0}”: {1} numbers.",
    "단어마다 값 v도 있습니다. 값에 몫을 곱해 모두 더한 것이 이 헤드가 “{0}”에 건네는 수 {1}개입니다."],
  sum: ["Sum", "합"],
  joinTitle: ["Put the heads together", "헤드를 이어 붙이기"],
  joinWords: [
    "All {0} heads did this at once. Their results stand side by side, {1} numbers; framed are "
      + "those of head {2}.",
    "헤드 {0}개가 이 일을 동시에 했습니다. 그 결과를 나란히 놓으면 수 {1}개이고, 테두리를 두른 것이 "
      + "헤드 {2}의 것입니다."],
  joined: ["Joined", "이은 것"],
  projectWords: [
    "The matrix W^O ({0} × {1}) mixes what the heads found. It is the same for every sentence and "
      + "not in the trace; this is its result.",
    "행렬 W^O({0} × {1})가 헤드들이 찾은 것을 섞습니다. 어느 문장에서나 같은 행렬이라 기록에는 없고, "
      + "여기 있는 것은 그 결과입니다."],
  normTitle: ["Residual and LayerNorm", "잔차 연결과 층 정규화"],
  residualWords: [
    "The result is added to what “{0}” was before: nothing is lost, something is added.",
    "그 결과를 “{0}”의 원래 벡터에 더합니다. 잃는 것 없이 더해지기만 합니다."],
  before: ["Before", "이전"],
  added: ["Sum", "합"],
  postWords: [
    "This model is post-norm, as in the paper: the sum is normalised at once. Its mean is taken "
      + "off, it is divided by its deviation, then scaled and shifted by learned numbers.",
    "이 모델은 논문처럼 뒤에서 정규화합니다. 합을 곧바로 정규화합니다. 평균을 빼고 표준편차로 나눈 뒤, "
      + "학습된 수로 늘이고 옮깁니다."],
  preWords: [
    "This model is pre-norm: the sum goes on as it is, and LayerNorm comes before the next "
      + "sublayer. This is what that one reads: mean taken off, divided by the deviation, then "
      + "scaled and shifted by learned numbers.",
    "이 모델은 앞에서 정규화합니다. 합은 그대로 나아가고 층 정규화는 다음 하위 층 앞에 옵니다. 아래는 다음 "
      + "하위 층이 읽는 것으로, 평균을 빼고 표준편차로 나눈 뒤 학습된 수로 늘이고 옮긴 것입니다."],
  mean: ["mean", "평균"],
  variance: ["variance", "분산"],
  normed: ["Normed", "정규화"],
  sizesTitle: ["What each sublayer added", "하위 층마다 더한 것"],
  sizesWords: [
    "The length of what each sublayer of {1} added to “{0}”, and the length of the sum after it.",
    "{1}의 하위 층마다 “{0}”에 더한 벡터의 길이와, 더한 뒤의 길이입니다."],
  "stack-encoder": ["the encoder", "인코더"],
  "stack-decoder": ["the decoder", "디코더"],
  sublayer: ["Sublayer", "하위 층"],
  "sublayer-attention": ["Attention", "어텐션"],
  "sublayer-cross": ["Cross", "교차"],
  "sublayer-feed_forward": ["Feed-forward", "피드포워드"],
  change: ["Added", "더한 것"],
  afterwards: ["Sum", "합"],
  active: ["Units above zero", "0보다 큰 유닛"],

  positionsTab: ["Positions", "위치"],
  positionsTitle: ["Where a word stands", "단어가 놓인 자리"],
  positionsLead: [
    "Attention by itself does not know order. So a pattern that belongs to the place is added to "
      + "the word that stands there.",
    "어텐션은 그 자체로는 순서를 모릅니다. 그래서 자리마다 정해진 무늬를 그 자리의 단어에 더합니다."],
  "positions-interleaved": [
    "This model uses the sinusoids of the paper: sine and cosine in turn, each pair slower than "
      + "the one before.",
    "이 모델은 논문의 사인파를 씁니다. 사인과 코사인이 번갈아 나오고, 쌍마다 앞의 것보다 느립니다."],
  "positions-concatenated": [
    "This model uses sinusoids, all sines in the first half and all cosines in the second.",
    "이 모델은 사인파를 쓰되, 앞 절반에 사인을, 뒤 절반에 코사인을 모아 둡니다."],
  "positions-learned": [
    "This model learned its positions as it learned its words.",
    "이 모델은 단어를 배우듯 위치도 배웠습니다."],
  positionsDrawn: ["Positions drawn", "그릴 위치의 수"],
  encodingTitle: ["The encoding", "위치 인코딩"],
  encodingWords: [
    "{0} positions, one a row; {1} dimensions, one a column.",
    "한 줄이 한 위치로 모두 {0}줄, 한 칸이 한 차원으로 모두 {1}칸입니다."],
  positionCell: ["position {0}, dimension {1}: {2}", "위치 {0}, 차원 {1}: {2}"],
  distanceTitle: ["How alike two positions are", "두 위치가 얼마나 닮았는가"],
  distanceWords: [
    "The dot product of two positions by the distance between them: the line is the average, the "
      + "band from the least to the most.",
    "두 위치의 내적을 거리별로 보인 것입니다. 선은 평균, 띠는 최솟값에서 최댓값까지입니다."],
  distance: ["Distance", "거리"],
  distanceTable: ["Dot product by distance, as a table", "거리별 내적을 표로"],
  average: ["Average", "평균"],
  least: ["Least", "최소"],
  most: ["Most", "최대"],
  embeddingTitle: ["Length of each embedding: {0}", "임베딩의 길이: {0}"],
  beforePosition: ["Before the position", "위치를 더하기 전"],
  afterPosition: ["After", "더한 뒤"],
  encodingOf: ["Encoding of", "인코딩"],
  "stream-source": ["Source", "원문"],
  "stream-target": ["Translation", "번역"],
  "stream-text": ["Text", "글"],
  "stream-picture": ["Picture", "그림"],
  "stream-series": ["Series", "시계열"],

  decodingTab: ["Decoding", "디코딩"],
  decodingTitle: ["One piece at a time", "한 조각씩 써 나가기"],
  decodingLead: [
    "The decoder reads what is written so far and gives every piece of its vocabulary a chance. "
      + "Play it, and change how the next piece would be drawn.",
    "디코더는 지금까지 쓴 것을 읽고 어휘의 모든 조각에 확률을 줍니다. 재생해 보고, 다음 조각을 뽑는 "
      + "방법도 바꿔 보세요."],
  "decodingTab-choice": ["Output", "출력"],
  "decodingTitle-choice": ["What the model says", "모델의 답"],
  "decodingLead-choice": [
    "From what it made of the whole the model gives each possible answer a chance. Here are the "
      + "chances at every place where it was asked.",
    "모델은 전체를 읽고 만든 것에서 가능한 답마다 확률을 줍니다. 물은 자리마다 그 확률을 보여 줍니다."],
  readTitle: ["What was read", "읽은 것"],
  answersTitle: ["What it could be", "가능한 답"],
  play: ["Play", "재생"],
  pause: ["Pause", "멈춤"],
  step: ["Step", "단계"],
  stepOf: ["{0} of {1}", "{0} / {1}"],
  stepBack: ["One step back", "한 단계 뒤로"],
  stepOn: ["One step on", "한 단계 앞으로"],
  temperature: ["Temperature", "온도"],
  topK: ["top-k", "상위 k개"],
  topP: ["top-p", "누적 확률 p"],
  all: ["all", "모두"],
  writtenTitle: ["Written so far", "지금까지 쓴 것"],
  nextTitle: ["What could come next", "다음에 올 수 있는 것"],
  others: ["all others", "나머지 모두"],
  taken: [
    "“{0}” was taken; the model gave it {1}. Entropy {2} nats.",
    "고른 조각은 “{0}”이고, 모델이 준 확률은 {1}입니다. 엔트로피는 {2}내트입니다."],
  answered: [
    "“{0}”: the model gives it {1}. Entropy {2} nats.",
    "“{0}”: 모델이 준 확률은 {1}입니다. 엔트로피는 {2}내트입니다."],
  beyondTen: [
    "These ten do not reach top-p: it keeps pieces beyond them too, so bars show plain chances.",
    "이 열 개로는 누적 확률 p에 닿지 않아 그 밖의 조각도 남습니다. 그래서 막대는 본래 확률입니다."],
  maskTitle: ["The look-ahead mask", "앞을 가리는 마스크"],
  triangleWords: [
    "A row a step: each piece sees itself and what came before, never what is to come.",
    "한 줄이 한 단계입니다. 조각마다 자신과 그 앞은 보지만 뒤는 결코 보지 못합니다."],
  triangleLabel: ["{0} of {1} rows of the mask are filled", "마스크 {1}줄 중 {0}줄이 찼습니다"],
  lensTitle: ["The logit lens", "로짓 렌즈"],
  lensWords: [
    "What the output layer would have said had the model stopped after this layer.",
    "모델이 이 층에서 멈췄다면 출력층이 했을 말입니다."],
  beamTitle: ["The beam", "빔 탐색"],
  beamWords: [
    "Beam search keeps the best {0} beginnings at each step (length penalty {1}). The number "
      + "beside a piece is the log-probability of all up to there.",
    "빔 탐색은 단계마다 가장 나은 시작 {0}개를 남깁니다(길이 벌점 {1}). 조각 옆의 수는 거기까지의 "
      + "로그 확률입니다."],
  beamMany: ["Dropped ones are left out here: there are too many.", "버린 것은 너무 많아 뺐습니다."],
  beamLabel: ["Tree of a beam search of width {0}", "너비 {0}인 빔 탐색의 나무"],
  noBeam: [
    "The translation was given, so there was no search.",
    "번역문이 주어졌으므로 탐색은 없었습니다."],
  piece: ["Piece", "조각"],
  logp: ["Log-probability", "로그 확률"],
  fate: ["Fate", "결과"],
  kept: ["kept", "남김"],
  ended: ["ended", "끝남"],
  dropped: ["dropped", "버림"],
  best: ["winner", "승자"],

  alignmentTab: ["Alignment", "정렬"],
  alignmentTitle: ["What each word looked at", "단어마다 본 곳"],
  alignmentLead: [
    "A line ties a word of the translation to a source word it looked at while it was written. Its "
      + "thickness is the share; the number beside a word is its largest share. The word looked at "
      + "most need not be the one that is translated.",
    "선은 번역의 단어를 그것을 쓸 때 본 원문의 단어와 이어 줍니다. 선의 굵기가 몫이고, 단어 곁의 수는 "
      + "가장 큰 몫입니다. 어떤 단어를 보았다고 해서 꼭 그 단어의 번역인 것은 아닙니다."],
  tiesFrom: ["Lines from", "선의 근거"],
  byAttention: ["Cross-attention", "교차 어텐션"],
  bySaliency: ["Saliency", "현저성"],
  alignmentLayer: [
    "Cross-attention of decoder layer {0}, averaged over its heads",
    "디코더 {0}층의 교차 어텐션을 헤드에 걸쳐 평균한 것"],
  saliencyWords: [
    "Gradient × input: how much each source word moved the choice of this one",
    "기울기 × 입력: 원문의 각 단어가 이 단어의 선택을 얼마나 움직였는가"],
  noWords: ["There are no words to tie.", "이을 단어가 없습니다."],
  shareTitle: ["Largest share of each word", "단어마다 가장 큰 몫"],
  mostLookedAt: ["Looked most at", "가장 많이 본 단어"],
  lookedMostAt: ["“{0}” looked most at {1}.", "“{0}”에서 가장 많이 본 단어: {1}."],
  wasLookedAtBy: ["“{0}” was looked at most by {1}.", "“{0}”에 눈길을 가장 많이 준 단어: {1}."],
  movedBy: ["Moved most by", "가장 많이 움직인 단어"],
  movedMostBy: ["“{0}” was moved most by {1}.", "“{0}”의 선택을 가장 많이 움직인 단어: {1}."],
  movedMost: ["“{0}” moved most {1}.", "“{0}”에서 가장 많은 영향을 받은 단어: {1}."],
};
