//! The whole page: its head, the figures that matter first, then one section after the other.

use std::time::Duration;

use rechunk::{CopyReport, Error, format_byte_size, format_shape};

use super::figures::Figures;
use super::markup::{Html, escaped};
use super::recorder::Record;
use super::sheet::{Sheet, State};
use super::{arrays, candidates, knee, measured, stages, style, subject, timeline};
use crate::numbers::{dollars, number, plural, seconds};
use crate::phrases::Phrases;
use crate::svg::style::CSS as DRAWING_CSS;

impl Sheet {
    /// Makes the page of the plan.
    pub fn plan_page(&self) -> String {
        self.page(&State::Planned)
    }

    /// Makes the page of a plan when its run begins. Written before the run, it shows that its
    /// place can be written, and stays if the run is killed.
    pub fn begun_page(&self) -> String {
        self.page(&State::Begun)
    }

    /// Makes the page of a run.
    pub fn run_page(mut self, record: &Record, outcome: Result<&CopyReport, &Error>) -> String {
        self.note_run(record, outcome);
        self.page(&State::Ended { record, error: outcome.err() })
    }

    fn page(&self, state: &State<'_>) -> String {
        page(self, state, &self.totals())
    }
}

/// The page of a plan or a run.
pub(super) fn page(sheet: &Sheet, state: &State<'_>, totals: &Figures) -> String {
    let mut html = Html::default();
    html.with("html", &[("lang", "en")], |html| {
        head(html, &sheet.title, None);
        html.within("body", "", |html| {
            html.within("header", "", |html| {
                html.leaf("h1", "", &sheet.title);
                html.within("p", "line", |html| {
                    let (class, word) = state.word();
                    html.leaf("span", &format!("state {class}"), word);
                    html.text(&sheet.subtitle());
                });
                tiles(html, sheet, totals);
                notes(html, state, totals, &sheet.phrases);
            });
            html.within("main", "", |html| sections(html, sheet, state, totals));
            footer(html, &sheet.footer());
            html.within("script", "", |html| html.ours(style::SCRIPT));
        });
    });
    format!("<!DOCTYPE html>\n{}\n", html.into_text())
}

/// The last line of a page.
pub(super) fn footer(html: &mut Html, words: &str) {
    html.within("footer", "", |html| {
        let version = env!("CARGO_PKG_VERSION");
        html.text(&format!("Made by rechunk {version}. {words}"));
    });
}

/// The head of a page, which is loaded again every so often if `again` says so.
pub(super) fn head(html: &mut Html, title: &str, again: Option<Duration>) {
    html.within("head", "", |html| {
        html.ours("<meta charset=\"utf-8\"/>");
        html.ours("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>");
        html.ours("<meta name=\"color-scheme\" content=\"light dark\"/>");
        if let Some(again) = again {
            let seconds = again.as_secs().max(1);
            html.ours(&format!("<meta http-equiv=\"refresh\" content=\"{seconds}\"/>"));
        }
        html.ours(&format!("<title>{} · rechunk</title>", escaped(title)));
        html.within("style", "", |html| {
            html.ours(DRAWING_CSS);
            html.ours("\n");
            html.ours(style::CSS);
        });
    });
    html.ours("\n");
}

fn sections(html: &mut Html, sheet: &Sheet, state: &State<'_>, totals: &Figures) {
    measured::section(html, totals);
    if let Some(record) = state.record() {
        timeline::section(html, record, totals);
    }
    if sheet.is_group() {
        arrays::table(html, sheet, totals);
        knee::section(html, sheet.what_if.as_ref());
        if sheet.what_if.is_none() {
            let setting = sheet.phrases.box_size;
            let words = format!(
                "Other budgets were not tried: for more than 128 arrays, or with {setting}."
            );
            html.leaf("p", "muted small", &words);
        }
        arrays::details(html, sheet);
        return;
    }
    if let Some(array) = sheet.arrays.first() {
        subject::section(html, array);
        stages::section(html, array);
        candidates::section(html, array);
        knee::section(html, sheet.what_if.as_ref());
    }
}

/// The figures that matter: each a number with its words.
fn tiles(html: &mut Html, sheet: &Sheet, totals: &Figures) {
    let mut tiles = vec![(format_byte_size(totals.decoded_bytes), what(sheet))];
    let mut tile = |number: &str, words: &str| tiles.push((number.to_owned(), words.to_owned()));
    time_tiles(&mut tile, totals);
    traffic_tiles(&mut tile, totals);
    memory_tile(&mut tile, totals);
    let estimate = &totals.estimate;
    if estimate.usd > 0.0 {
        tile(&dollars(estimate.usd), "price of requests and bytes, predicted");
    }
    let columns = if tiles.len() > TILES_IN_A_ROW { tiles.len().div_ceil(2) } else { tiles.len() };
    html.tiles(columns, &tiles);
}

fn what(sheet: &Sheet) -> String {
    match &sheet.arrays[..] {
        [array] if !sheet.is_group() => {
            let plan = &array.planned.plan;
            format!("{} {}, decoded", format_shape(&plan.source().shape), array.subject.data_type)
        }
        arrays => format!("{}, decoded", plural(arrays.len() as u64, "array")),
    }
}

fn time_tiles(tile: &mut impl FnMut(&str, &str), totals: &Figures) {
    let predicted = seconds(totals.estimate.seconds);
    let Some(elapsed) = totals.elapsed_seconds else {
        tile(&predicted, "time, by the profile");
        return;
    };
    tile(&seconds(elapsed), &format!("time; {predicted} by the profile"));
    if let Some(tasks) = totals.tasks {
        let before = match tasks.resumed {
            0 => String::new(),
            resumed => format!(", {} of them before", number(resumed)),
        };
        let words = format!("of {} done{before}", plural_of(tasks.total, "task"));
        tile(&number(tasks.done), &words);
        if tasks.done == tasks.total && tasks.resumed == 0 && elapsed > 0.0 {
            let speed = totals.decoded_bytes as f64 / elapsed / 1e6;
            tile(&format!("{speed:.0} MB/s"), "decoded, over the whole run");
        }
    }
}

fn plural_of(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{} {what}s", number(count)) }
}

fn traffic_tiles(tile: &mut impl FnMut(&str, &str), totals: &Figures) {
    let estimate = &totals.estimate;
    let sum = |read: [u64; 2]| read[0].saturating_add(read[1]);
    let predicted = [
        sum([estimate.source.read_bytes, estimate.intermediate.read_bytes]),
        sum([estimate.target.written_bytes, estimate.intermediate.written_bytes]),
    ];
    let requests = estimate.requests();
    let Some(traffic) = &totals.traffic else {
        tile(&number(requests), "requests");
        tile(&format_byte_size(predicted[0]), "read, encoded");
        tile(&format_byte_size(predicted[1]), "written, encoded");
        return;
    };
    let counted = measured::requests_counted(totals, traffic);
    let words = if counted == requests {
        "requests, as planned".to_owned()
    } else {
        format!("requests; {} planned", number(requests))
    };
    tile(&number(counted), &words);
    let [read, written] = predicted.map(format_byte_size);
    let counted = sum([traffic.source.read_bytes, traffic.intermediate.read_bytes]);
    tile(&format_byte_size(counted), &format!("read; {read} expected"));
    let counted = sum([traffic.target.written_bytes, traffic.intermediate.written_bytes]);
    tile(&format_byte_size(counted), &format!("written; {written} expected"));
    let again = measured::tried_again(traffic);
    if again > 0 {
        tile(&number(again), "requests tried again");
    }
}

fn memory_tile(tile: &mut impl FnMut(&str, &str), totals: &Figures) {
    let memory = &totals.memory;
    let [planned, allowed] = [memory.planned_peak_bytes, memory.budget_bytes].map(format_byte_size);
    match memory.peak_rss_bytes {
        Some(peak) => tile(
            &format_byte_size(peak),
            &format!("resident at the peak, with the program; {planned} planned of {allowed}"),
        ),
        None => tile(&planned, &format!("memory planned, of {allowed} allowed")),
    }
}

/// Why a run ended early; what is to be said of the plan or the run.
fn notes(html: &mut Html, state: &State<'_>, totals: &Figures, phrases: &Phrases) {
    if let State::Ended { error: Some(error), .. } = state {
        html.with("div", &[("class", "note bad"), ("role", "note")], |html| {
            for text in error.chain() {
                html.leaf("p", "", &text);
            }
            if let Some(hint) = error.remedy().as_ref().map(phrases.remedy) {
                html.leaf("p", "", &format!("Hint: {hint}"));
            }
        });
    }
    if totals.verified == Some(true) {
        let words = "Verified: the target was read back, and holds what was read from the source.";
        html.leaf("p", "note", words);
    }
    if !totals.warnings.is_empty() {
        html.with("div", &[("class", "note"), ("role", "note")], |html| {
            html.leaf(
                "strong",
                "",
                if totals.warnings.len() == 1 { "Warning" } else { "Warnings" },
            );
            html.within("ul", "", |html| {
                for warning in totals.warnings.iter().take(WARNINGS_MAX) {
                    html.leaf("li", "", warning);
                }
                if totals.warnings.len() > WARNINGS_MAX {
                    let more = number((totals.warnings.len() - WARNINGS_MAX) as u64);
                    html.leaf("li", "", &format!("and {more} more"));
                }
            });
        });
    }
}

/// Tiles that have room beside each other on a wide page; more stand in two rows.
const TILES_IN_A_ROW: usize = 7;
/// Warnings that are shown.
const WARNINGS_MAX: usize = 100;
