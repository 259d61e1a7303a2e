//! Shows the measurements of a probe, as tables.

use rechunk::planner::{CodecSpeeds, StoreProfile};
use rechunk::{Probed, Rung, format_byte_size};

use super::numbers::number;
use super::table::lay_out;

/// Shows the numbers of a measured profile, how they were found, and what was not measured.
///
/// ```
/// fn show(probed: &rechunk::Probed) {
///     println!("{}", rechunk_render::probe_text(probed));
/// }
/// ```
pub fn probe_text(probed: &Probed) -> String {
    [
        format!("{}    measured, beside the built-in profile `{}`", probed.location, probed.like),
        store_table(probed),
        String::new(),
        format!(
            "  requests in flight: small objects of {}, large ones of {}",
            format_byte_size(probed.store.small_bytes),
            format_byte_size(probed.store.large_bytes)
        ),
        rung_table(probed),
        String::new(),
        "  codecs on one core, decoded bytes".to_owned(),
        codec_table(probed),
        String::new(),
        format!("  not measured, as built in: {}", probed.not_measured.join(", ")),
    ]
    .join("\n")
}

fn store_table(probed: &Probed) -> String {
    let store = &probed.store;
    let base = StoreProfile::built_in(&probed.like).unwrap_or_else(StoreProfile::local);
    let row = |name: &str, measured: Option<String>, built_in: String| {
        vec![name.to_owned(), measured.unwrap_or_else(|| "–".to_owned()), built_in]
    };
    lay_out(
        &[
            ["", "measured", "built in"].map(str::to_owned).to_vec(),
            row("GET latency", store.get_seconds.map(short), short(base.get_seconds)),
            row("PUT latency", store.put_seconds.map(short), short(base.put_seconds)),
            row("read", store.read_bytes_per_second.map(rate), rate(base.read_bytes_per_second)),
            row("write", store.write_bytes_per_second.map(rate), rate(base.write_bytes_per_second)),
            row(
                "in flight",
                store.concurrency.map(|n| n.to_string()),
                base.concurrency.to_string(),
            ),
        ],
        &[1, 2],
    )
}

/// A row for every number of requests in flight that was tried.
fn rung_table(probed: &Probed) -> String {
    let store = &probed.store;
    let head = ["in flight", "small GET/s", "small PUT/s", "large read", "large write"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let ladders =
        [&store.small_reads, &store.small_writes, &store.large_reads, &store.large_writes];
    let mut tried: Vec<u32> =
        ladders.iter().flat_map(|rungs| rungs.iter().map(|r| r.concurrency)).collect();
    tried.sort_unstable();
    tried.dedup();
    for concurrency in tried {
        let at = |rungs: &[Rung], shown: fn(&Rung) -> String| {
            let rung = rungs.iter().find(|rung| rung.concurrency == concurrency);
            rung.map(shown).unwrap_or_default()
        };
        let per_second = |rung: &Rung| number(whole(rung.requests_per_second()));
        let bytes = |rung: &Rung| rate(rung.bytes_per_second());
        rows.push(vec![
            concurrency.to_string(),
            at(&store.small_reads, per_second),
            at(&store.small_writes, per_second),
            at(&store.large_reads, bytes),
            at(&store.large_writes, bytes),
        ]);
    }
    lay_out(&rows, &[0, 1, 2, 3, 4])
}

fn codec_table(probed: &Probed) -> String {
    let built_in = CodecSpeeds::default();
    let head = ["", "decode", "encode", "built in", "built in", "ratio"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for codec in &probed.codecs.codecs {
        let (decode, encode) = built_in.of(&codec.name);
        rows.push(vec![
            codec.name.clone(),
            rate(codec.decode_bytes_per_second),
            rate(codec.encode_bytes_per_second),
            rate(decode),
            rate(encode),
            format!("{:.2}", codec.ratio),
        ]);
    }
    let copy = probed.codecs.copy_bytes_per_second;
    let none = String::new;
    let built_in = rate(built_in.copy_bytes_per_second);
    rows.push(vec!["copying".to_owned(), rate(copy), none(), built_in, none(), none()]);
    lay_out(&rows, &[1, 2, 3, 4, 5])
}

/// `12.3 MiB/s`.
fn rate(bytes_per_second: f64) -> String {
    format!("{}/s", format_byte_size(whole(bytes_per_second)))
}

/// `85 µs`, `3.2 ms`.
fn short(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

fn whole(number: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
    let whole = number.round() as u64;
    whole
}
