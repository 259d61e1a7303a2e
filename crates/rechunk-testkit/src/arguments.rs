//! The command line, read by hand: clap belongs to the program, not to its tests.

use std::path::PathBuf;
use std::time::Duration;

use rechunk_testkit::Faults;

pub(crate) const USAGE: &str = "\
rechunk-testkit serve s3|gcs|http [OPTIONS]

An object store on 127.0.0.1 for tests. It prints its endpoint and the environment in which clients
find it, and runs until it is stopped.

  --root DIR        where the objects are [a directory that is removed in the end]
  --port N          the port [any]
  --faults WHAT     light, medium, hard, or the fraction of faulty requests, such as 0.1 [none]
  --seed N          other faults at the same rates [0]
  --latency-ms N    how much later every request is answered [0]
  --ignore-range    http: send whole files whatever range is asked for";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    S3,
    Gcs,
    Http,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Serve {
    pub(crate) protocol: Protocol,
    pub(crate) root: Option<PathBuf>,
    pub(crate) port: u16,
    pub(crate) faults: Faults,
    pub(crate) latency: Duration,
    pub(crate) ignores_ranges: bool,
}

/// Reads the arguments; `None` if they are for help.
pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Option<Serve>, String> {
    let mut arguments = arguments.into_iter();
    match arguments.next().as_deref() {
        Some("serve") => {}
        Some("help" | "--help" | "-h") => return Ok(None),
        other => return Err(format!("the command is `serve`, not `{}`", other.unwrap_or(""))),
    }
    let protocol = match arguments.next().as_deref() {
        Some("s3") => Protocol::S3,
        Some("gcs") => Protocol::Gcs,
        Some("http") => Protocol::Http,
        Some("--help" | "-h") => return Ok(None),
        other => return Err(format!("`{}` is none of s3, gcs, http", other.unwrap_or(""))),
    };
    let (mut faults, mut seed, mut latency_ms) = (Faults::none(), 0, 0);
    let (mut root, mut port, mut ignores_ranges) = (None, 0, false);
    while let Some(option) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{option} needs a value"));
        match option.as_str() {
            "--help" | "-h" => return Ok(None),
            "--ignore-range" if protocol == Protocol::Http => ignores_ranges = true,
            "--root" => root = Some(PathBuf::from(value()?)),
            "--port" => port = number(&option, &value()?)?,
            "--seed" => seed = number(&option, &value()?)?,
            "--latency-ms" => latency_ms = number(&option, &value()?)?,
            "--faults" => faults = preset(&value()?)?,
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
    let latency = Duration::from_millis(latency_ms);
    let faults = faults.seed(seed);
    Ok(Some(Serve { protocol, root, port, faults, latency, ignores_ranges }))
}

fn number<T: std::str::FromStr>(option: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{option}: `{value}` is no number that fits"))
}

fn preset(name: &str) -> Result<Faults, String> {
    match name {
        "light" => Ok(Faults::light()),
        "medium" => Ok(Faults::medium()),
        "hard" => Ok(Faults::hard()),
        rate => match rate.parse() {
            Ok(rate) if (0.0..=1.0).contains(&rate) => Ok(Faults::rate(rate)),
            _ => Err(format!("--faults: `{name}` is none of light, medium, hard, 0.0 to 1.0")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<Option<Serve>, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_read() {
        let line = "serve http --root /d --port 8080 --faults hard --seed 3 --latency-ms 20 \
                    --ignore-range";
        let expected = Serve {
            protocol: Protocol::Http,
            root: Some("/d".into()),
            port: 8080,
            faults: Faults::hard().seed(3),
            latency: Duration::from_millis(20),
            ignores_ranges: true,
        };
        assert_eq!(words(line), Ok(Some(expected)));
        let rate = words("serve s3 --faults 0.25").unwrap().unwrap();
        assert_eq!((rate.faults, rate.port), (Faults::rate(0.25), 0));
        assert_eq!(words("serve gcs --help"), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, wrong) in [
            ("", "serve"),
            ("serve ftp", "ftp"),
            ("serve s3 --port", "--port"),
            ("serve s3 --port 70000", "70000"),
            ("serve s3 --faults 1.5", "1.5"),
            ("serve s3 --ignore-range", "--ignore-range"),
            ("serve s3 --what", "--what"),
        ] {
            let message = words(line).unwrap_err();
            assert!(message.contains(wrong), "{line}: {message}");
        }
    }
}
