use std::collections::BTreeSet;
use std::sync::LazyLock;

use rechunk::planner::{
    Estimate, PlanRequest, Profile, RoleEstimate, ShardSide, Side, StoreProfile, plan,
};
use rechunk::what_if::WhatIf;
use rechunk::{Error, Meter, Report, TaskReport, Totals, Traffic, TreeReport, format_byte_size};

use super::page;
use super::recorder::{Bin, Record, StageSpan, TaskSpan};
use super::sheet::{ArraySheet, GroupSheet, Sheet, State};
use crate::numbers::{number, plural, seconds};
use crate::phrases::Phrases;
use crate::subject::Subject;
use crate::svg::tests::assert_well_formed;

const NASTY: &str = "<script>alert('&\"')</script>\u{0}\u{202e}";

fn request() -> PlanRequest {
    let sides = (Side::raw(&[5, 200, 500], 4), Side::raw(&[100, 20, 20], 4));
    PlanRequest {
        is_variable: false,
        same_encoding: true,
        profile: Profile::uniform(&StoreProfile::built_in("s3").unwrap()),
        ..PlanRequest::local(&[100, 400, 500], 4, sides, 16 << 20)
    }
}

fn subject(name: &str) -> Subject {
    Subject {
        title: format!("{name} → b.zarr"),
        data_type: "float32".to_owned(),
        axes: ["time", "lat", "lon"].map(|axis| format!("{axis}{name}")).to_vec(),
        source: format!("zarr2  {name}"),
        target: "zarr3  none".to_owned(),
        times: Vec::new(),
        growth: None,
        advice: None,
        notes: vec![format!("a note {name}")],
        workers: None,
    }
}

fn sheet(name: &str, request: &PlanRequest) -> Sheet {
    Sheet::of_plan(subject(name), request, &plan(request).unwrap())
}

/// Makes up a run of the sheet's plan: all as planned, and one request tried again.
fn run(sheet: &mut Sheet) -> Record {
    let mut all_tasks = 0;
    let mut record = Record {
        bins: vec![Bin { bytes: 1 << 20, task_seconds: 0.4, rss_bytes: 30 << 20 }; 10],
        bin_seconds: 0.5,
        elapsed_seconds: 5.0,
        ..Record::default()
    };
    for array in &mut sheet.arrays {
        let mut traffic = Traffic::default();
        let estimate = &array.report.estimate;
        traffic.source.get_requests = estimate.source.get_requests;
        traffic.source.http_attempts = estimate.source.get_requests + 1;
        traffic.source.read_bytes = estimate.source.read_bytes;
        traffic.target.put_requests = estimate.target.put_requests;
        array.report.traffic = Some(traffic);
        let total = array.planned.plan.task_count();
        array.report.tasks = Some(TaskReport { total, done: total, resumed: 0 });
        array.report.elapsed_seconds = Some(5.0);
        array.report.memory.peak_rss_bytes = Some(31 << 20);
        all_tasks += total;
        for (number, stage) in array.planned.plan.stages.iter().enumerate() {
            let start = number as f64;
            record.stages.push(StageSpan {
                array: None,
                number,
                name: stage.name.clone(),
                start,
                end: start + 1.0,
                tasks_done: stage.tasks,
                bytes: 1 << 20,
            });
            let stage = record.stages.len() - 1;
            record.tasks.push(TaskSpan { stage, task: 7, start, end: start + 0.9 });
        }
    }
    record.tasks_done = all_tasks;
    record
}

fn text_of(sheet: &Sheet, state: &State<'_>) -> String {
    page::page(sheet, state, &sheet.totals())
}

/// A page that is well-formed, stands alone and is laid out by heads of falling level.
fn check(page: &str) {
    let rest = page.strip_prefix("<!DOCTYPE html>\n").expect("a document type");
    assert_well_formed(rest.trim_end());
    for mark in ["http:", "https:", "src=", "url(", "@import", "xmlns", " onclick", " onload"] {
        assert!(!page.contains(mark), "{mark}");
    }
    for part in page.split("href=\"").skip(1) {
        assert!(part.starts_with('#'), "{}", &part[..20]);
    }
    assert_eq!(page.matches("<h1").count(), 1);
    assert_eq!(page.matches("<script").count(), 1);
    for drawing in page.split("role=\"img\"").skip(1) {
        let label = drawing.split("aria-label=\"").nth(1).expect("a drawing has a label");
        assert!(!label.starts_with('"'));
    }
    for number in ["NaN", "inf\"", "inf%", "inf "] {
        assert!(!page.contains(number), "{number}");
    }
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|s| s.split('"').next()).collect();
    assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "{ids:?}");
}

#[test]
fn a_plan_is_said_with_all_its_numbers() {
    let request = request();
    let sheet = sheet("a.zarr", &request);
    let page = text_of(&sheet, &State::Planned);
    check(&page);
    let planned = &sheet.arrays[0].planned;
    let estimate = &planned.plan.estimate;
    let mut texts = vec![
        "a.zarr → b.zarr".to_owned(),
        number(estimate.requests()),
        seconds(estimate.seconds),
        format_byte_size(planned.plan.memory.planned_peak_bytes),
        planned.plan.kind.to_string(),
    ];
    for stage in &planned.plan.stages {
        texts.extend([number(stage.tasks), format_byte_size(stage.task_bytes)]);
    }
    for rung in &sheet.what_if.as_ref().unwrap().workers {
        texts.push(seconds(rung.total().unwrap().seconds));
    }
    for text in texts {
        assert!(page.contains(&format!(">{text}<")), "{text}");
    }
    assert!(page.contains("does not fit") || page.contains("does not apply"));
    assert!(page.contains(">planned<") && !page.contains("Measured against predicted"));
}

#[test]
fn a_run_is_held_against_its_plan() {
    let request = request();
    let mut sheet = sheet("a.zarr", &request);
    let record = run(&mut sheet);
    let page = text_of(&sheet, &State::Ended { record: &record, error: None });
    check(&page);
    for text in
        ["Measured against predicted", "as planned", "The run over time", "Retries", ">done<"]
    {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(page.matches("<rect class=\"t").count(), record.tasks.len());
    let error = Error::Usage { message: NASTY.to_owned(), hint: Some(NASTY.into()) };
    let page = text_of(&sheet, &State::Ended { record: &record, error: Some(&error) });
    check(&page);
    assert!(page.contains(">failed<") && page.contains("Hint: &lt;script&gt;"));
}

#[test]
fn what_a_store_copies_itself_is_as_planned_though_some_is_missing() {
    let mut sheet = sheet("a.zarr", &request());
    let record = run(&mut sheet);
    let report = &mut sheet.arrays[0].report;
    report.estimate.source = RoleEstimate::default();
    report.estimate.intermediate = RoleEstimate::default();
    report.estimate.target = RoleEstimate { copy_requests: 1234, ..RoleEstimate::default() };
    let mut traffic = Traffic::default();
    traffic.source.get_missing = 34;
    (traffic.target.copy_requests, traffic.target.put_skipped) = (1200, 34);
    report.traffic = Some(traffic);
    let page = text_of(&sheet, &State::Ended { record: &record, error: None });
    check(&page);
    let row =
        "target: copies inside the store</td><td class=\"n\">1,234</td><td class=\"n\">1,234</td>";
    assert!(page.contains(row) && page.contains(">requests, as planned<"));
    assert!(!page.contains("not expected"));
}

#[test]
fn names_from_elsewhere_stay_text() {
    let mut sheet = sheet(NASTY, &request());
    sheet.arrays[0].report.warnings.push(NASTY.to_owned());
    let mut record = run(&mut sheet);
    for stage in &mut record.stages {
        (stage.name, stage.array) = (NASTY.to_owned(), Some(0));
    }
    record.arrays.push(NASTY.to_owned());
    let page = text_of(&sheet, &State::Ended { record: &record, error: None });
    check(&page);
    assert!(!page.contains("<script>alert") && !page.contains('\0') && !page.contains('\u{202e}'));
    assert!(page.contains("&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;"));
}

#[test]
fn every_rank_and_kind_has_a_page() {
    let shapes: [(&[u64], &[u64], &[u64]); 7] = [
        (&[], &[], &[]),
        (&[7], &[2], &[7]),
        (&[0, 4], &[2, 2], &[1, 4]),
        (&[60, 70], &[7, 9], &[60, 3]),
        (&[2, 3, 4, 5, 6], &[1, 3, 4, 5, 6], &[2, 1, 1, 5, 6]),
        (&[64, 64, 64], &[64, 64, 64], &[64, 64, 64]),
        (&[1 << 20, 1 << 20], &[1 << 10, 1 << 10], &[1 << 12, 1 << 9]),
    ];
    for (shape, source, target) in shapes {
        let mut request = request();
        request.shape = shape.to_vec();
        request.source = Side::raw(source, 4);
        request.target = Side::raw(target, 4);
        request.budget.memory_bytes = 64 << 20;
        check(&text_of(&sheet("a", &request), &State::Planned));
    }
    let mut request = request();
    let shard = ShardSide {
        shape: vec![100, 200, 500],
        index_bytes: 4096,
        index_first: false,
        tables: None,
    };
    (request.target.shard, request.budget.memory_bytes) = (Some(shard), 256 << 20);
    let page = text_of(&sheet("a", &request), &State::Begun);
    check(&page);
    assert!(page.contains("in shard 100 × 200 × 500"));
    request.budget.box_bytes = Some(64 << 20);
    let page = text_of(&sheet("a", &request), &State::Planned);
    check(&page);
    assert!(!page.contains("Other budgets"));
}

/// A group of `count` equal arrays.
fn group(count: usize) -> Sheet {
    let request = request();
    let planned = plan(&request).unwrap();
    let array = |position: usize| ArraySheet {
        path: format!("group/<array {position}>"),
        subject: subject("x"),
        report: Report::of_plan(&planned, &[]),
        planned: planned.clone(),
        meter: None,
    };
    let arrays: Vec<ArraySheet> = (0..count).map(array).collect();
    let mut what_if = WhatIf::new(&[&request]).unwrap();
    for rung in what_if.budgets.iter_mut().chain(&mut what_if.workers) {
        rung.arrays = vec![rung.arrays[0].clone(); count];
    }
    let mut estimate = Estimate::default();
    for array in &arrays {
        estimate.add(&array.report.estimate);
    }
    let report = TreeReport {
        arrays: Vec::new(),
        arrays_left_out: 0,
        totals: Totals::default(),
        already_complete: false,
        archive: None,
        groups: Vec::new(),
        unmoved: Vec::new(),
        others: None,
        pyramid: None,
        estimate,
        traffic: None,
        memory: arrays[0].report.memory.clone(),
        tasks: None,
        elapsed_seconds: None,
        verified: None,
        warnings: vec![NASTY.to_owned(); 300],
    };
    Sheet {
        title: "a → b".to_owned(),
        arrays,
        group: Some(GroupSheet {
            report,
            words: plural(count as u64, "array"),
            meter: Meter::new(),
        }),
        what_if: LazyLock::new(Box::new(move || Some(what_if))),
        phrases: Phrases::default(),
    }
}

#[test]
fn a_group_has_its_sums_first_and_each_array_after() {
    let sheet = group(3);
    let page = text_of(&sheet, &State::Planned);
    check(&page);
    assert!(page.find(">all 3<") < page.find("group/&lt;array 0&gt;"));
    assert_eq!(page.matches("<details").count(), 3);
    for position in 1..=3 {
        assert!(page.contains(&format!("href=\"#array-{position}\"")));
        assert!(page.contains(&format!("<details id=\"array-{position}\"")));
    }
    let one = &sheet.arrays[0].report.estimate;
    assert!(page.contains(&format!(">{}<", number(3 * one.requests()))));
    assert!(page.contains(&format!(">{}<", seconds(3.0 * one.seconds))));
}

#[test]
fn a_large_group_has_a_page_that_can_be_sent() {
    let page = text_of(&group(2000), &State::Planned);
    check(&page);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    assert!(page.contains("more arrays are left out"));
}
