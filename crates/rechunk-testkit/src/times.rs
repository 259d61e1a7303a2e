//! Times as headers and lists write them.

use std::time::SystemTime;

use s3s::dto::{Timestamp, TimestampFormat};

/// As in `Last-Modified`: whole seconds.
pub(crate) fn http_date(time: SystemTime) -> String {
    text(time, TimestampFormat::HttpDate)
}

/// As in lists: RFC 3339.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    text(time, TimestampFormat::DateTime)
}

fn text(time: SystemTime, format: TimestampFormat) -> String {
    let mut bytes = Vec::new();
    match Timestamp::from(time).format(format, &mut bytes) {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => String::new(), // years beyond 9999
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_as_the_standards_say() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_250);
        assert_eq!(http_date(time), "Tue, 14 Nov 2023 22:13:20 GMT");
        assert_eq!(rfc3339(time), "2023-11-14T22:13:20.250Z");
    }
}
