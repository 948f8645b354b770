import type { ArrayRef, FilmHead } from "./data";
import type { Range, Reference } from "./chart";

// What a page of studies was given (cli/study_page.cpp, report/figure_page.cpp).

export interface CurveHead {
  label: string;
  x: ArrayRef;
  y: ArrayRef;
  dashed: boolean;
  marker: "none" | "circle" | "square";
  line: boolean;
}

export interface PanelHead {
  title: string;
  x_label: string;
  y_label: string;
  log_x: boolean;
  log_y: boolean;
  equal: boolean;
  x_range: Range | null;
  y_range: Range | null;
  references: Reference[];
  curves: CurveHead[];
}

export interface FigureHead {
  title: string;
  note: string;
  panels: PanelHead[];
}

export interface CheckHead {
  name: string;
  value: number | null;
  reference: number | null;
  tolerance: number | null;
  source: string;
  pass: boolean;
}

export type Value = number | string | boolean | null;

export interface ParameterHead {
  name: string;
  symbol: string;
  unit: string;
  meaning: string;
  value: Value; // none: left open
  preset: Value;
  changed: boolean;
  of_clock: boolean;
}

export interface StudyHead {
  name: string;
  paper: string;
  title: string;
  of_paper: string; // its figures there
  about: string;
  as_published: boolean;
  parameters: ParameterHead[];
  results: { name: string; meaning: string; value: number | null }[];
  checks: CheckHead[];
  trouble: string;
  figures: FigureHead[];
  films: (FilmHead & { title: string })[]; // of the first figure, then the second
}

export interface StudiesHead {
  kind: "studies";
  title: string;
  version: string;
  created: string;
  papers: { name: string; citation: string }[];
  studies: StudyHead[];
}
