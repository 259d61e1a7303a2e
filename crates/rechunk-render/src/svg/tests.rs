use super::canvas::{escape, px};
use super::solid::Solid;
use super::*;

/// Opening and closing tags match, attribute values are quoted, no stray `<` or `&`.
pub(crate) fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        assert_text(&rest[..start]);
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        assert!(!tag.contains('<'), "{tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.trim_matches('/').split_whitespace().next().expect("a tag has a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else {
            assert_text(tag);
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// Every `&` begins an entity.
fn assert_text(text: &str) {
    for (position, _) in text.match_indices('&') {
        let entity = text[position + 1..].split(';').next().unwrap_or("");
        assert!(["amp", "lt", "gt", "quot", "#39"].contains(&entity), "{text}");
    }
}

/// No number that is none.
fn assert_numbers(svg: &str) {
    for word in ["NaN", "\"inf", "\"-inf", " inf", "-inf", ">inf"] {
        assert!(!svg.contains(word), "{word}");
    }
    for length in ["width=\"-", "height=\"-", "r=\"-", "font-size=\"-"] {
        assert!(!svg.contains(length), "{length}");
    }
}

fn stage(name: &str, read_box: &[u64], write_box: &[u64], tasks: u64) -> StagePicture {
    StagePicture {
        name: name.to_owned(),
        read_box: read_box.to_vec(),
        write_box: write_box.to_vec(),
        tasks,
        tasks_at_once: 2,
        memory_bytes: 180 << 20,
        buffers: None,
    }
}

#[test]
fn buffers_of_raw_files_are_drawn_with_what_they_carry() {
    let mut picture = satellite();
    let mut copy = stage("copy", &[269, 100, 36000], &[6443, 17999, 36000], 1);
    let carried = Some(vec![269, 40, 36000]);
    copy.buffers = Some(BuffersPicture { count: 4_320, carried });
    picture.stages = vec![copy.clone()];
    let svg = draw(&picture);
    assert_well_formed(&svg);
    assert_numbers(&svg);
    for words in ["One buffer", "buffer 269 × 100 × 36000", "carries 269 × 40 × 36000"] {
        assert!(svg.contains(words), "{words}");
    }
    copy.buffers = Some(BuffersPicture { count: 1, carried: None });
    picture.stages = vec![copy];
    let svg = draw(&picture);
    assert_well_formed(&svg);
    assert!(svg.contains("carries nothing") && svg.contains("1 buffer"));
}

#[test]
fn shards_are_drawn_around_their_chunks() {
    let without = draw(&satellite());
    let picture = PlanPicture { target_shard: Some(vec![6443, 2000, 2000]), ..satellite() };
    let svg = draw(&picture);
    assert_well_formed(&svg);
    assert_numbers(&svg);
    assert!(svg.contains("chunk 6443 × 100 × 100") && svg.contains("in shard 6443 × 2000 × 2000"));
    assert!(svg.contains("162 shards"), "{svg}");
    let glasses = |svg: &str| svg.matches("write glass").count();
    assert!(glasses(&svg) > glasses(&without));
}

fn candidate(kind: &str, cost: Option<f64>, note: &str) -> CandidatePicture {
    CandidatePicture {
        kind: kind.to_owned(),
        boxes: vec![vec![45, 17999, 3600]],
        cost,
        note: note.to_owned(),
    }
}

fn satellite() -> PlanPicture {
    PlanPicture {
        title: "sst.zarr → by-pixel.zarr".to_owned(),
        subtitle: "push-pull".to_owned(),
        axes: ["time", "lat", "lon"].map(str::to_owned).to_vec(),
        shape: vec![6443, 17999, 36000],
        item_bytes: 4,
        source_chunk: vec![5, 1799, 3600],
        target_chunk: vec![6443, 100, 100],
        source_shard: None,
        target_shard: None,
        stages: vec![
            stage("push", &[45, 17999, 3600], &[45, 17999, 3600], 1440),
            stage("pull", &[6443, 400, 1800], &[6443, 400, 1800], 900),
        ],
        candidates: vec![
            candidate("pull", Some(38.2), "38.20 ×"),
            candidate("direct", None, "does not fit: needs 156 GiB"),
            candidate("push-pull", Some(1.0), "chosen"),
        ],
        budget_bytes: 16 << 30,
        planned_peak_bytes: 15 << 30,
        peak_rss_bytes: Some(14 << 30),
    }
}

/// An array of `shape` with one stage that takes it chunk by chunk.
fn simple(shape: &[u64], chunk: &[u64]) -> PlanPicture {
    PlanPicture {
        axes: Vec::new(),
        shape: shape.to_vec(),
        source_chunk: chunk.to_vec(),
        target_chunk: chunk.to_vec(),
        stages: vec![stage("copy", chunk, shape, 1)],
        ..satellite()
    }
}

#[test]
fn says_what_the_plan_says() {
    let svg = draw(&satellite());
    for text in [
        "sst.zarr → by-pixel.zarr",
        "lon 36000",
        "time 6443",
        "chunk 5 × 1799 × 3600",
        "124\u{a0}MiB per chunk",
        "141\u{a0}790 chunks",
        "grid 1289 × 11 × 10",
        "1\u{a0}440 tasks",
        "2 at once",
        "measured peak 14.0\u{a0}GiB (88\u{a0}% of the budget)",
        "does not fit: needs 156 GiB",
    ] {
        assert!(svg.contains(&format!(">{text}<")), "{text}");
    }
}

#[test]
fn every_rank_and_extreme_is_well_formed() {
    let huge = u64::MAX;
    let cases: [(&[u64], &[u64]); 14] = [
        (&[], &[]),
        (&[7], &[2]),
        (&[1], &[1]),
        (&[0], &[4]),
        (&[huge], &[1]),
        (&[20_000, 30_000], &[1000, 30_000]),
        (&[1, 5000], &[1, 7]),
        (&[900, 1000, 1150], &[64, 64, 64]),
        (&[0, 3, huge], &[1, 1, 1]),
        (&[huge, 1, 3], &[0, 0, 0]),
        (&[huge, huge, huge, huge], &[1, huge, 1, huge]),
        (&[120, 3, 500, 2048, 2048], &[1, 1, 64, 64, 64]),
        (&[5, 5, 5], &[]),
        (&[2; 32], &[1; 32]),
    ];
    for (shape, chunk) in cases {
        for bytes in [0, 1, huge] {
            let svg = draw(&PlanPicture {
                item_bytes: bytes,
                budget_bytes: bytes,
                planned_peak_bytes: huge - bytes,
                ..simple(shape, chunk)
            });
            assert_well_formed(&svg);
            assert_numbers(&svg);
        }
    }
}

#[test]
fn any_cost_and_any_number_of_stages_and_candidates() {
    let costs = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e300];
    let mut picture = satellite();
    picture.candidates.extend(costs.map(|cost| candidate("odd", Some(cost), "")));
    picture.candidates.extend((0..9).map(|_| candidate("more", Some(2.0), "2.00 ×")));
    for stages in 0..9 {
        picture.stages = vec![stage("pass", &[45, 17999, 3600], &[1, 1, 1], u64::MAX); stages];
        let svg = draw(&picture);
        assert_well_formed(&svg);
        assert_numbers(&svg);
        assert_eq!(svg.matches(">One pass task<").count(), stages);
    }
}

#[test]
fn the_chosen_plan_comes_first_and_those_that_cannot_run_last() {
    let svg = draw(&satellite());
    let at = |kind: &str| svg.find(&format!(">{kind}<")).expect("the candidate is drawn");
    let candidates = svg.find("Plans considered").expect("the section is drawn");
    assert!(svg[candidates..].find(">push-pull<") < svg[candidates..].find(">pull<"));
    assert!(svg[candidates..].find(">pull<") < svg[candidates..].find(">direct<"));
    assert!(at("direct") > candidates);
}

#[test]
fn the_same_plan_gives_the_same_picture() {
    assert_eq!(draw(&satellite()), draw(&satellite()));
}

#[test]
fn text_is_escaped_wherever_it_comes_from() {
    let nasty = "<script>alert('&\"')</script>\u{0}";
    let mut picture = satellite();
    nasty.clone_into(&mut picture.title);
    nasty.clone_into(&mut picture.subtitle);
    picture.axes = vec![nasty.to_owned(); 3];
    picture.stages[0].name = nasty.to_owned();
    picture.candidates.push(candidate(nasty, None, nasty));
    let svg = draw(&picture);
    assert!(!svg.contains("<script"));
    assert!(!svg.contains('\0'));
    assert!(svg.contains("&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;\u{fffd}"));
    assert_well_formed(&svg);
}

#[test]
fn long_text_is_cut_but_kept_for_the_pointer() {
    let long = "s3://bucket/".repeat(30);
    let svg = draw(&PlanPicture { title: long.clone(), ..satellite() });
    assert!(svg.contains(&format!("<title>{long}</title>")));
    assert!(svg.contains('…'));
}

#[test]
fn axes_are_to_scale_until_they_would_vanish() {
    let solid = Solid::fit(&[300, 100, 200], 150.0, 150.0);
    assert!((solid.across / solid.down - 2.0).abs() < 1e-9);
    assert!(solid.width() <= 150.0 + 1e-9 && solid.height() <= 150.0 + 1e-9);
    let flat = Solid::fit(&[1_000_000, 10], 150.0, 150.0);
    assert!((flat.down / flat.across - 12.0).abs() < 1e-9);
}

#[test]
fn extra_axes_are_folded_slowest_first_and_single_elements_are_not_drawn() {
    let solid = Solid::fit(&[12, 1, 5, 6, 7], 100.0, 100.0);
    assert_eq!([0, 1, 2].map(|direction| solid.axis(direction)), [Some(4), Some(3), Some(2)]);
    assert_eq!(solid.folded(), [0]);
    assert!(draw(&simple(&[12, 1, 5, 6, 7], &[1; 5])).contains(">× 12 axis 0<"));
    assert_eq!(Solid::fit(&[1, 9, 9], 100.0, 100.0).axis(2), None);
}

#[test]
fn coordinates_are_short_and_finite() {
    assert_eq!(px(1.0), "1");
    assert_eq!(px(-0.001), "0");
    assert_eq!(px(2.345), "2.35");
    assert_eq!(px(f64::NAN), "0");
    assert_eq!(escape("a<b"), "a&lt;b");
    assert_eq!(escape("a\u{202e}b\u{7}"), "a\u{fffd}b\u{fffd}");
}

#[test]
fn numbers_read_well() {
    assert_eq!(words::count(1_234_567), "1\u{a0}234\u{a0}567");
    assert_eq!(words::count(u128::MAX), "3.4e38");
    assert_eq!(words::short_count(9999), "9\u{a0}999");
    assert_eq!(words::short_count(12_345), "12.3\u{a0}k");
    assert_eq!(words::short_count(u64::MAX), "2e19");
    assert_eq!(words::bytes(1536), "1.50\u{a0}KiB");
    assert_eq!(words::bytes(u128::from(u64::MAX)), "16.0\u{a0}EiB");
    assert_eq!(words::grid(&[10, 0, 7], &[3, 2, 0]), [4, 0, 7]);
    assert_eq!(words::product(&[u64::MAX; 4]), u128::MAX);
    assert_eq!(words::product(&[u64::MAX, 0]), 0);
}
