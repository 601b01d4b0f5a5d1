// Every term that needs a word of explanation, in a chemist's words.

export const TERMS = {
  candidate: {
    title: "Candidate",
    text: "One thing you could measure: a row of your list, such as a set of reaction conditions or a sample.",
  },
  feature: {
    title: "Feature",
    text: "A column that the predictions are made from, such as temperature or solvent. Columns that are only shown have no influence.",
  },
  descriptors: {
    title: "Descriptors",
    text: "A table with one row for each level of a column. The first column has the name of the column it describes, such as ligand; the others say what is known of each, such as the cone angle. A result with one ligand then tells something about similar ones. You can add several tables.",
  },
  batch: {
    title: "Batch",
    text: "Candidates that are measured together before anybody looks at the results. The server chooses them so that each adds something the others do not.",
  },
  size: {
    title: "Why this size",
    text: "A batch ends where the next choice would depend on the results of the candidates already in it, or at the size you asked for.",
  },
  composition: {
    title: "What the batch shares",
    text: "Rules for the batch as a whole: one temperature because there is one oven, at most three solvents, no more than two measurements for each plate.",
  },
  price: {
    title: "What a condition costs",
    text: "How much better the best of this batch is expected to be if the condition is dropped. With several objectives, it is the share of the front that is lost. Zero means that it costs nothing.",
  },
  expected: {
    title: "Expected value",
    text: "What the model expects from all results so far. About two of three results lie within the ± beside it.",
  },
  atTheTime: {
    title: "Expected then",
    text: "What was expected when the candidate was suggested, before anybody had measured it. A result far outside the ± is a surprise worth a second look.",
  },
  improvement: {
    title: "Still to gain",
    text: "How much better than the best so far any other candidate could be, at most, with the probability shown. When this is small, more experiments are not worth much.",
  },
  limit: {
    title: "Cautious limit",
    text: "No candidate on the list is better than the recommended one by more than this. The limit holds for all candidates at once, so it is larger than the estimate of what is still to gain. It falls as the results cover the list.",
  },
  feasible: {
    title: "Good enough",
    text: "The chance that a candidate meets all constraints, such as a purity of at least 95 %. Learnt from the results of the constrained quantities.",
  },
  front: {
    title: "Front",
    text: "The candidates of which no other is at least as good in every objective and better in one: the possible compromises. Which of them is best is for you to say.",
  },
  hypervolume: {
    title: "Volume under the front",
    text: "The area (or volume) of all compromises that the measured front beats, in all objectives together (the hypervolume). As a share: 100 % is what it could be at most, by the fitted models. It grows when a new result extends the front, and stays when it does not.",
  },
  uncertainty: {
    title: "Uncertainty",
    text: "How far the true value may lie from the expected one. It shrinks where similar candidates have been measured.",
  },
  plausible: {
    title: "Best plausible value",
    text: "The expected value plus what uncertainty allows. Candidates are suggested when this is high: they are either good or worth learning about.",
  },
  similarity: {
    title: "Similarity",
    text: "How alike two candidates are in their features, as the model sees it: 100 % is the same, 0 % says nothing about each other.",
  },
  history: {
    title: "History",
    text: "Everything that ever happened in the study, in order. Nothing is overwritten: a correction is added, with its reason.",
  },
  replay: {
    title: "Replay",
    text: "The server computes the batch again from the history and compares every digit. If both agree, the batch is exactly what the results of that day lead to.",
  },
  verify: {
    title: "Check the history",
    text: "Each entry carries a fingerprint of the one before it. If anybody had changed an old entry, its fingerprint would no longer fit.",
  },
  reference: {
    title: "Reference points",
    text: "Measured candidates that stand for all results inside the model (its dictionary). More of them means that the results need more detail to describe.",
  },
  dimension: {
    title: "Effective dimension, estimated",
    text: "About how many independent directions the results have explored so far: the sum of the leverages of all results. It is the effective dimension itself if every measured candidate is a reference point, and an estimate otherwise.",
  },
  importance: {
    title: "Which columns matter",
    text: "How much the predictions change with a column: 0 % means that it makes no difference, 100 % that it decides alone.",
  },
  calibration: {
    title: "Predicted against observed",
    text: "Each dot is a result and what was expected of it before it was measured. If the model is good, dots lie near the line, and two of three bars touch it.",
  },
  leaveOneOut: {
    title: "Predicted against observed",
    text: "Each dot is a measured candidate: across, what all other results predict for it; up, what was measured. If the model is good, dots lie near the line, and 95 of 100 bars touch it.",
  },
  coverage: {
    title: "How often the intervals held",
    text: "Of the intervals that should hold half of the results, half should; of those for nine of ten, nine of ten. Above the dashed line the model is too careful, below it too sure.",
  },
  lengthscale: {
    title: "How far results stay alike",
    text: "The distance over which results hardly change (the lengthscale), where the whole range of a column is 1. Small: every step matters. Large: the column makes little difference.",
  },
  seed: {
    title: "Random seed",
    text: "A number that decides between equally good choices. The same seed and the same results give the same batches.",
  },
  worker: {
    title: "Worker",
    text: "The bench, robot or person that measures. Each worker has one open batch at a time.",
  },
  goal: {
    title: "Goal",
    text: "Find the best candidate as fast as possible, get good results along the way, or learn about all candidates evenly.",
  },
  repeats: {
    title: "Repeat measurements",
    text: "Whether a candidate may be measured again. Worthwhile when results vary from one measurement to the next.",
  },
  noise: {
    title: "Measurement noise",
    text: "How much two measurements of the same candidate differ. The server estimates it from the results.",
  },
  stop: {
    title: "Stop",
    text: "When no further batch is issued: after a number of results, on a day, or when no other candidate can be much better. Results of open batches are still taken.",
  },
  overdue: {
    title: "Overdue",
    text: "A batch that took longer than you planned is marked. Nothing else happens: report what is there, or abandon the rest.",
  },
  confirm: {
    title: "Confirm the best",
    text: "Before the study ends, the few best candidates are measured again, so that a lucky value is not mistaken for the best.",
  },
  failed: {
    title: "Failed measurements",
    text: "An attempt that gave no value. The server can learn from it and avoid similar candidates, or take no notice.",
  },
  model: {
    title: "Model",
    text: "What turns the results so far into expectations for all other candidates. It is fitted again as results come in, unless you have given one of your own.",
  },
  forecast: {
    title: "Forecast",
    text: "Studies are simulated on candidates whose results are known, each from another start. The number of measurements until one is close to the best known value tells what the next study of this kind will need.",
  },
  borrowed: {
    title: "Borrowed results",
    text: "What an earlier study expects of each candidate becomes a hint for this one. It is used only if it explains the new results clearly better than they explain themselves.",
  },
  reserved: {
    title: "Reserved",
    text: "Somebody will measure this candidate without a batch. It is not suggested to anybody else, and counts as pending.",
  },
  budget: {
    title: "Budget",
    text: "What all measurements together may cost. A batch stays within what is left of it.",
  },
  tags: {
    title: "Tags",
    text: "Words that sort studies: a project, an instrument, a quarter. Studies can be shown by tag.",
  },
} as const;

export type TermName = keyof typeof TERMS;
