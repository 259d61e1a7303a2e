use super::*;

/// A tree without places, to compare.
fn plain(node: &JobNode) -> serde_json::Value {
    match &node.value {
        JobValue::Null => serde_json::Value::Null,
        JobValue::Bool(value) => (*value).into(),
        JobValue::Number(digits) => format!("#{digits}").into(),
        JobValue::Text(text) => text.clone().into(),
        JobValue::List(nodes) => nodes.iter().map(plain).collect(),
        JobValue::Table(entries) => table(entries),
    }
}

fn table(entries: &[JobEntry]) -> serde_json::Value {
    let pairs = entries.iter().map(|entry| (entry.key.clone(), plain(&entry.node)));
    serde_json::Value::Object(pairs.collect())
}

const TOML: &str = r#"# a job
source = "a.zarr"
max-mem = 0x20_00
verify = true
ratio = 1.5
chunks = { time = -1, "lät" = 30 }
include = ["a", 'b\c']

[var."air/*"]
codec = "zstd:5"
"#;

const YAML: &str = r#"# a job
source: a.zarr
max-mem: 8192
verify: true
ratio: 1.5
chunks: {time: -1, "lät": 30}
include:
  - a
  - 'b\c'
var:
  air/*:
    codec: zstd:5
"#;

const JSON: &str = r#"{
  "source": "a.zarr", "max-mem": 8192, "verify": true, "ratio": 1.5,
  "chunks": {"time": -1, "l\u00e4t": 30},
  "include": ["a", "b\\c"],
  "var": {"air/*": {"codec": "zstd:5"}}
}"#;

const ALL: [(JobSyntax, &str); 3] =
    [(JobSyntax::Toml, TOML), (JobSyntax::Yaml, YAML), (JobSyntax::Json, JSON)];

#[test]
fn three_languages_say_the_same() {
    let [toml, yaml, json] = ALL.map(|(syntax, text)| parse_job_file(syntax, text).unwrap());
    assert_eq!(table(&toml), table(&yaml));
    assert_eq!(table(&toml), table(&json));
    assert_eq!(table(&toml)["max-mem"], "#8192");
    assert_eq!(table(&toml)["chunks"]["time"], "#-1");
}

#[test]
fn places_are_those_of_an_editor() {
    for (syntax, text, expected) in [
        (JobSyntax::Toml, TOML, ["5:1", "6:10", "6:23", "10:9"]),
        (JobSyntax::Yaml, YAML, ["5:1", "6:9", "6:20", "12:12"]),
        (JobSyntax::Json, JSON, ["2:56", "3:13", "3:26", "5:30"]),
    ] {
        let entries = parse_job_file(syntax, text).unwrap();
        let of = |key: &str| entries.iter().find(|entry| entry.key == key).unwrap();
        let JobValue::Table(chunks) = &of("chunks").node.value else { panic!("a table") };
        let JobValue::Table(rules) = &of("var").node.value else { panic!("a table") };
        let JobValue::Table(rule) = &rules[0].node.value else { panic!("a table") };
        let found = [of("ratio").key_at, of("chunks").node.at, chunks[1].key_at, rule[0].node.at];
        assert_eq!(found.map(|at| at.to_string()), expected, "{syntax:?}");
    }
}

#[test]
fn faults_say_where() {
    use JobSyntax::{Json, Toml, Yaml};
    for (syntax, text, at, reason) in [
        (Toml, "a = 1\nb = \n", "2:5", ""),
        (Toml, "a = 1\n a = 2\n", "2:2", "duplicate key"),
        (Toml, "a = 2020-01-01", "1:5", "no option takes a date"),
        (Toml, "a = 9999999999999999999999999999999999999999", "1:5", "too large"),
        (Yaml, "a: 1\nb: 2\na: 3\n", "3:1", "the key \"a\" is there twice, first at 1:1"),
        (Yaml, "a: [1, 2\n", "2:1", ""),
        (Yaml, "- 1\n", "1:1", "a job file is a table of options, and this is a list"),
        (Yaml, "a: 1\n---\nb: 1\n", "3:1", "second document"),
        (Yaml, "a: !mine 1\n", "1:4", "this tag is not known"),
        (Yaml, "? [1]\n: 2\n", "1:3", "a key has to be a text"),
        (Json, "{\"a\": 1,\n \"a\": 2}", "2:2", "the key \"a\" is there twice, first at 1:2"),
        (Json, "{\"a\": 1,}", "1:9", "key must be a string"),
        (Json, "[]", "1:1", "a job file is a table"),
    ] {
        let fault = parse_job_file(syntax, text).unwrap_err();
        assert!(fault.reason.contains(reason), "{text}: {fault:?}");
        assert_eq!(fault.at.to_string(), at, "{text}: {fault:?}");
    }
}

#[test]
fn plain_scalars_are_those_of_the_core_schema() {
    let text = "{a: no, b: 1460,  c: 1e3, d: 0x1F, e: ~, f: '1', g: 30D, h: .5, i: 12:30, j: -x, k: !!str 1}";
    let found = table(&parse_job_file(JobSyntax::Yaml, text).unwrap());
    let expected = serde_json::json!({
        "a": "no", "b": "#1460", "c": "#1e3", "d": "#31", "e": null, "f": "1", "g": "30D",
        "h": "#.5", "i": "12:30", "j": "-x", "k": "1"
    });
    assert_eq!(found, expected);
}

#[test]
fn aliases_repeat_and_do_not_explode() {
    let text = "a: &x {codec: zstd}\nb: *x\n";
    let found = table(&parse_job_file(JobSyntax::Yaml, text).unwrap());
    assert_eq!(found["a"], found["b"]);
    // Nine lists of nine aliases each: 9^9 values.
    let mut text = "l0: &l0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n".to_owned();
    for level in 1..9 {
        let inner = vec![format!("*l{}", level - 1); 9].join(", ");
        text = format!("{text}l{level}: &l{level} [{inner}]\n");
    }
    let fault = parse_job_file(JobSyntax::Yaml, &text).unwrap_err();
    assert!(fault.reason.contains("more than 65536 keys and values"), "{fault:?}");
    // One long text, as a value and as a key.
    let long = "x".repeat(500_000);
    for anchor in [format!("&x {long}"), format!("&x {{{long}: 1}}")] {
        let text = format!("a: {anchor}\nb: [{}]\n", vec!["*x"; 100].join(", "));
        let fault = parse_job_file(JobSyntax::Yaml, &text).unwrap_err();
        assert!(fault.reason.contains("more than 65536 keys and values"), "{fault:?}");
    }
    let fault = parse_job_file(JobSyntax::Yaml, "a: &a [*a]").unwrap_err();
    assert!(!fault.reason.is_empty());
}

#[test]
fn sizes_and_depths_are_bounded() {
    for (syntax, open, close) in [
        (JobSyntax::Toml, "a = ", ""),
        (JobSyntax::Yaml, "a: ", ""),
        (JobSyntax::Json, "{\"a\": ", "}"),
    ] {
        let nested = |levels| format!("{open}{}{}{close}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse_job_file(syntax, &nested(DEPTH_MAX)).is_ok(), "{syntax:?}");
        for levels in [DEPTH_MAX + 1, 500, 20_000] {
            assert!(parse_job_file(syntax, &nested(levels)).is_err(), "{syntax:?} {levels}");
        }
        let fault = parse_job_file(syntax, &" ".repeat(JOB_FILE_BYTES_MAX + 1)).unwrap_err();
        assert!(fault.reason.contains("at most are read"));
    }
}

#[test]
fn values_are_counted_in_every_language_and_long_lines_are_read_fast() {
    let list = |count: usize| format!("[{}1]", "1, ".repeat(count - 1));
    let table = |count: usize, sign: &str| {
        let pairs: Vec<String> = (0..count).map(|key| format!("\"{key}\"{sign}1")).collect();
        format!("{{{}}}", pairs.join(", "))
    };
    // The table that the file is has no place of its own in TOML, and counts in the others.
    for (syntax, open, sign, close) in [
        (JobSyntax::Toml, "a = ", " = ", ""),
        (JobSyntax::Yaml, "a: ", ": ", ""),
        (JobSyntax::Json, "{\"a\": ", ": ", "}"),
    ] {
        for (value, fits) in [
            (list(60_000), true),
            (list(VALUES_MAX), false),
            (table(30_000, sign), true),
            (table(VALUES_MAX / 2, sign), false),
        ] {
            let read = parse_job_file(syntax, &format!("{open}{value}{close}"));
            assert!(read.is_ok() == fits, "{syntax:?} {:?}", read.err());
        }
        // Sixteen times as long a line takes sixteen times as long, and not 256 times.
        let seconds = |count: usize| {
            let text = format!("{open}{}{close}", table(count, sign));
            let read = || {
                #[expect(clippy::disallowed_methods, reason = "one time over another is bounded")]
                let started = std::time::Instant::now();
                assert!(parse_job_file(syntax, &text).is_ok());
                started.elapsed().as_secs_f64()
            };
            (0..3).map(|_| read()).fold(f64::INFINITY, f64::min)
        };
        let times = seconds(30_000) / seconds(30_000 / 16);
        assert!(times < 100.0, "{syntax:?} took {times:.0} times as long");
    }
}

#[test]
fn columns_are_counted_in_characters_however_long_the_line_is() {
    let long = "ä€😀x".repeat(1000);
    let text = format!("{{\"{long}\": 1,\n \"{long}\": 2}}");
    let lines = Lines::new(&text);
    let (mut line, mut column) = (1, 1);
    for (offset, character) in text.char_indices() {
        assert_eq!(lines.at(offset), Position { line, column }, "{offset}");
        column += 1;
        if character == '\n' {
            (line, column) = (line + 1, 1);
        }
    }
    assert_eq!(lines.at(text.len() + 9), Position { line: 2, column: 4008 });
}
