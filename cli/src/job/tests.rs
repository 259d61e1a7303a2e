use super::*;
use rechunk::Class;

fn parse(name: &str, text: &str) -> Result<JobFile, Error> {
    let file = JobFile::parse(name, JobSyntax::of_name(name).unwrap(), text)?;
    file.check()?;
    Ok(file)
}

fn arguments(name: &str, text: &str) -> Vec<String> {
    let file = parse(name, text).unwrap();
    file.words.into_iter().map(|word| word.argument).collect()
}

/// The line that `typed` becomes with a file.
fn joined(typed: &str, text: &str) -> String {
    let typed: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
    let (command, matches) = seen(&typed).unwrap();
    let mut file = parse("job.toml", text).unwrap();
    file.retain(&command, &matches);
    let line = file.join(&typed, &command, &matches);
    let line: Vec<String> = line.into_iter().map(|word| word.into_string().unwrap()).collect();
    line.join(" ")
}

const JOB: &str = r#"
source = "in.zarr"
target = "s3://bucket/out.zarr"
chunks = { time = -1, lat = 45, "lon" = "auto" }
shards = [100, "keep", -1]
max-mem = 536870912
timeout = "90s"
select = { time = "0:1000", lat = 5 }
codec = { id = "blosc", cname = "lz4", clevel = 5, shuffle = 1, ratio = 0.5 }
include = ["a/*", "b"]
verify = true
resume = false
verbose = 2
raw-shape = [3, 4]
raw-dtype = "uint16"
temp = "memory:"
profile = "/etc/rechunk.json"
svg = "plan.svg"

[store-option]
region = "eu-west-1"
skip_signature = true
[store-option."s3://other"]
endpoint = "http://localhost:9000"

[var.sst]
chunks = { time = -1 }
codec = "zstd:5"

[var."air/*"]
chunks = [1, 2]
"#;

#[test]
fn values_become_the_words_of_the_command_line() {
    // The profile is not there: words only.
    let file = JobFile::parse("jobs/a.toml", JobSyntax::Toml, JOB).unwrap();
    let words: Vec<&str> = file.words.iter().map(|word| word.argument.as_str()).collect();
    assert_eq!(
        words,
        [
            "jobs/in.zarr",
            "s3://bucket/out.zarr",
            "--chunks=time=-1,lat=45,lon=auto",
            "--shards=100,keep,-1",
            "--max-mem=536870912",
            "--timeout=90s",
            "--select=time=0:1000,lat=5",
            r#"--codec={"id":"blosc","cname":"lz4","clevel":5,"shuffle":1,"ratio":0.5}"#,
            "--include=a/*",
            "--include=b",
            "--verify",
            "--verbose",
            "--verbose",
            "--raw-shape=3,4",
            "--raw-dtype=uint16",
            "--temp=memory:",
            "--profile=/etc/rechunk.json",
            "--svg=jobs/plan.svg",
            "--store-option=region=eu-west-1",
            "--store-option=skip_signature=true",
            "--store-option=s3://other,endpoint=http://localhost:9000",
            "--var=sst: chunks time=-1",
            "--var=sst: codec zstd:5",
            "--var=air/*: chunks 1,2",
        ]
    );
}

#[test]
fn rules_are_tables_or_lists() {
    let list = "var:\n  - array: 'air/*'\n    chunks: keep\n  - 'a/b: codec none'\n";
    assert_eq!(arguments("a.yaml", list), ["--var=air/*: chunks keep", "--var=a/b: codec none"]);
    let json = r#"{"$schema": "https://x", "var": {"a": {"codec": [{"name": "bytes"}]}, "b": "shards none"}}"#;
    let expected = [r#"--var=a: codec [{"name":"bytes"}]"#, "--var=b: shards none"];
    assert_eq!(arguments("a.json", json), expected);
}

#[test]
fn faults_are_those_of_the_options_at_their_place() {
    for (text, expected) in [
        ("a = 1", "job.toml:1:1: unknown key \"a\""),
        ("\nchunk = 1", "job.toml:2:1: unknown key \"chunk\" (did you mean \"chunks\"?)"),
        ("max_mem = 1", "job.toml:1:1: unknown key \"max_mem\" (did you mean \"max-mem\"?)"),
        ("job = 'x.toml'", "job.toml:1:1: unknown key \"job\""),
        ("help = true", "job.toml:1:1: unknown key \"help\""),
        ("verify = 'yes'", "job.toml:1:10: expected true or false, found a text"),
        ("threads = true", "job.toml:1:11: expected a text or a number, found true or false"),
        (
            "threads = 0",
            "job.toml:1:11: invalid value '0' for '--threads <N>': 0 is not in 1..=4096",
        ),
        ("max-mem = '5 apples'", "job.toml:1:11: --max-mem: `5 apples` is not a size"),
        ("chunks = '1,,2'", "job.toml:1:10: `1,,2` has an empty entry"),
        (
            "chunks = [1, 'a']",
            "job.toml:1:10: `a` is not a chunk extent: a number, -1, keep, auto, a time like 30D or lengths like 31+28x2",
        ),
        (
            "chunks = [1, [2]]",
            "job.toml:1:14: expected a number, \"keep\" or \"auto\", found a list",
        ),
        (
            "chunks = { 'a=b' = 1 }",
            "job.toml:1:12: a dimension \"a=b\" cannot be named: give an extent for each axis",
        ),
        ("chunks = ['1,2']", "job.toml:1:11: \"1,2\" is not one entry"),
        (
            "select = 't=1:2:3'",
            "job.toml:1:10: --select: `1:2:3`: there are no steps, only START:STOP",
        ),
        ("target = 'a.n5'\ncodec = 'zstandard'", "job.toml:2:9: "),
        ("codec = 'zstandard'", "job.toml:1:9: "),
        ("codec = 5", "job.toml:1:9: expected a text, or the format's own JSON, found a number"),
        (
            "overwrite = true\nresume = true",
            "job.toml: the argument '--overwrite' cannot be used with '--resume'",
        ),
        (
            "raw-shape = '1'",
            "job.toml:1:13: the following required arguments were not provided: --raw-dtype <TYPE>",
        ),
        ("[var.a]\nchunk = 1", "job.toml:2:1: unknown key \"chunk\" (did you mean \"chunks\"?)"),
        (
            "[var.a]\nchunks = 'x'",
            "job.toml:2:10: `x` is not a chunk extent: a number, -1, keep, auto, a time like 30D or lengths like 31+28x2",
        ),
        (
            "[var.a]\ncodec = 'none; shards none'",
            "job.toml:2:9: there is a `;` in it: a setting is one value",
        ),
        (
            "[var.'a:b']\nchunks = 1",
            "job.toml:1:6: \"a:b\": there cannot be a `:` in it; ? stands for any letter",
        ),
        ("[var.a]", "job.toml:1:6: the rule sets nothing"),
        ("[[var]]\nchunks = 1", "the rule does not say \"array\": the arrays it is about"),
        ("timeout = 'x'", "job.toml:1:11: --timeout: `x` is not a time"),
        ("source = 1979-05-27", "job.toml:1:10: no option takes a date: write a text, in quotes"),
    ] {
        let error = parse("job.toml", text).err().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(error.class(), Class::Usage);
        let said = error.to_string();
        assert!(said.contains(expected), "{text}:\n  {said}\n  {expected}");
    }
    let error = parse("job.toml", "strategy = 'pul'").err().unwrap().to_string();
    assert!(
        error.starts_with("job.toml:1:12: invalid value 'pul' for '--strategy <KIND>'"),
        "{error}"
    );
    assert!(error.contains("a similar value exists: 'pull'"), "{error}");
}

#[test]
fn options_of_stores_are_never_shown() {
    for text in [
        "store-option = ['secret_acess_key=canary']",
        "[store-option]\nsecret_acess_key = 'canary'",
        "[store-option]\nsecret_access_key = ['canary']",
        "[store-option.'s3://a'.b]\nsecret_access_key = 'canary'",
        "[store-option]\nsecret_access_key = canary",
        "[store-option]\nsecret_access_key = 'canary'\nsecret_access_key = 'canary'",
    ] {
        let error = parse("job.toml", text).err().unwrap_or_else(|| panic!("{text}"));
        let said = format!("{error} {error:?} {:?}", error.remedy());
        assert!(!said.contains("canary") && said.contains("job.toml:"), "{said}");
    }
}

#[test]
fn what_is_typed_counts() {
    let text = "source = 'a'\ntarget = 'b'\nchunks = 'keep'\ninclude = 'x'\nresume = true\nvar = 'v: chunks keep'";
    assert_eq!(
        joined("rechunk copy --job job.toml", text),
        "rechunk copy --chunks=keep --include=x --resume --var=v: chunks keep --job job.toml a b"
    );
    assert_eq!(
        joined(
            "rechunk --log-file copy copy A --job job.toml --overwrite --include=y --var=w:chunks=1",
            text
        ),
        "rechunk --log-file copy copy --chunks=keep --var=v: chunks keep A --job job.toml --overwrite \
         --include=y --var=w:chunks=1 b"
    );
    // A source comes first; what stands alone is none.
    let typed = "rechunk copy --job job.toml";
    let line = |more: &str| format!("{typed}{more}");
    assert_eq!(joined(typed, "target = 'b'\nsource = 'a'"), line(" a b"));
    assert_eq!(joined(typed, "target = 'b'"), typed);
    assert_eq!(
        joined("rechunk copy A --job job.toml", "target = 'b'"),
        "rechunk copy A --job job.toml b"
    );
    // What a plan has no use for stays out.
    assert_eq!(
        joined("rechunk plan --chunks 1 A B --job job.toml", text),
        "rechunk plan --include=x --var=v: chunks keep --chunks 1 A B --job job.toml"
    );
}

#[test]
fn errors_of_the_source_are_explained_where_the_file_is_to_blame() {
    let text = "select = 't=0:5'\ninclude = ['a', 'b']\n[var.v]\nchunks = 'keep'\n";
    let explained = |typed: &str, message: &str| {
        let typed: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
        let (command, matches) = seen(&typed).unwrap();
        let mut file = parse("job.toml", text).unwrap();
        file.retain(&command, &matches);
        file.explain(usage(message.to_owned(), None)).to_string()
    };
    let unknown = "--select: no array has a dimension `t`";
    assert_eq!(explained("rechunk copy", unknown), format!("job.toml:1:10: {unknown}"));
    assert_eq!(explained("rechunk copy --select t=1", unknown), unknown);
    for (message, place) in [
        ("--include: `b` matches no array", "job.toml:2:17: "),
        ("--var: `v` matches no array", "job.toml:4:10: "),
        ("--var: `w` matches no array", ""),
        ("there is no dimension `x`", ""),
    ] {
        assert_eq!(explained("rechunk copy", message), format!("{place}{message}"));
    }
}
