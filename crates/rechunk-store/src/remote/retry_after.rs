//! Reads for how long a busy store asks to be left alone (`Retry-After`, RFC 9110, 10.2.3).

use std::time::Duration;

use object_store::client::HttpResponse;

/// Share of the time for all attempts that one answer can ask for: a longer wait would end behind
/// them.
const SHARE: u32 = 4;

/// Time before a request that got `answer` is sent again; `None` unless a busy store names one, in
/// seconds or as a date. At most a quarter of `timeout`.
pub(super) fn asked_pause(answer: &HttpResponse, timeout: Duration) -> Option<Duration> {
    if !matches!(answer.status().as_u16(), 429 | 503) {
        return None;
    }
    let header = |name| answer.headers().get(name)?.to_str().ok();
    let date = |text: &str| httpdate::parse_http_date(text).ok();
    let said = header("retry-after")?.trim();
    let pause = if let Ok(seconds) = said.parse() {
        Duration::from_secs(seconds)
    } else {
        // Dates of one answer are of one clock.
        let now = header("date").and_then(date)?;
        date(said)?.duration_since(now).unwrap_or_default()
    };
    Some(pause.min(timeout / SHARE))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(80);

    fn pause(status: u16, headers: &[(&'static str, &'static str)]) -> Option<u64> {
        let mut answer = HttpResponse::new(Vec::new().into());
        *answer.status_mut() = status.try_into().unwrap();
        for &(name, value) in headers {
            answer.headers_mut().insert(name, value.parse().unwrap());
        }
        asked_pause(&answer, TIMEOUT).map(|pause| pause.as_secs())
    }

    #[test]
    fn a_busy_store_is_left_alone_as_long_as_it_asks_and_no_longer_than_makes_sense() {
        let now = ("date", "Tue, 15 Nov 1994 08:12:31 GMT");
        for (status, said, wanted) in [
            (429, "7", Some(7)),
            (503, " 7 ", Some(7)),
            (503, "0", Some(0)),
            (503, "3600", Some(20)),
            (503, "18446744073709551615", Some(20)),
            (503, "Tue, 15 Nov 1994 08:12:36 GMT", Some(5)),
            (503, "Tue, 15 Nov 1994 08:12:01 GMT", Some(0)),
            (503, "soon", None),
            (503, "-1", None),
            (503, "1.5", None),
            (500, "7", None),
            (200, "7", None),
        ] {
            assert_eq!(pause(status, &[now, ("retry-after", said)]), wanted, "{status} {said}");
        }
        assert_eq!(pause(503, &[now]), None);
        assert_eq!(pause(503, &[("retry-after", "Tue, 15 Nov 1994 08:12:36 GMT")]), None);
    }
}
