//! The page for people, in a real browser: data sets, slices with the right shades, levels by zoom.

use serde_json::json;

use super::serving::{BYTES, Serving};
use crate::browser::chromium;
use crate::driven::Driven;
use crate::harness::{Folder, rechunk};

const SCREEN: (u32, u32) = (1280, 900);
const PHONE: (u32, u32) = (390, 844);

/// The slice is drawn, and nothing is to come.
const DRAWN: &str = "document.getElementById('slice').getAttribute('aria-busy') === 'false' \
     && document.getElementById('slice').dataset.level";

/// Functions for the tests: shades by the position of elements, once the slice fits the canvas.
const TOOLS: &str = "
    canvas = document.getElementById('slice');
    shade = (x, y, width, height) => {
      const zoom = Math.min(canvas.width * 0.96 / width, canvas.height * 0.96 / height, 200);
      const at = [(x + 0.5 - width / 2) * zoom + canvas.width / 2, (y + 0.5 - height / 2) * zoom + canvas.height / 2];
      return canvas.getContext('2d').getImageData(...at.map(Math.floor), 1, 1).data[0];
    };
    type = (id, value) => {
      const input = document.getElementById(id);
      input.value = value;
      input.dispatchEvent(new Event('input', { bubbles: true }));
    };
    choose = (id, value) => {
      const select = document.getElementById(id);
      select.value = value;
      select.dispatchEvent(new Event('change', { bubbles: true }));
    };
    frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    0";

fn wire(sizes: [u32; 3], elements: &[u8]) -> Vec<u8> {
    let mut bytes = sizes.map(u32::to_be_bytes).concat();
    bytes.extend_from_slice(elements);
    bytes
}

fn create(serving: &Serving, description: &serde_json::Value) -> String {
    let body = description.to_string().into_bytes();
    let (status, id) = serving.ask("POST", "/datasets", "application/json", &body).unwrap();
    assert_eq!(status, 200, "{id:?}");
    String::from_utf8(id).unwrap()
}

fn write(serving: &Serving, path: &str, block: &[u8]) {
    let (status, said) = serving.ask("POST", path, BYTES, block).unwrap();
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&said));
}

/// A shade for each position of the finest level.
fn value([x, y, z]: [usize; 3]) -> u8 {
    u8::try_from((x * 3 + y * 5 + z * 40) % 256).unwrap()
}

const SIZE: [usize; 3] = [64, 48, 6];

/// A data set whose finest level has [`value`], in blocks, and whose other level is 77 everywhere.
fn filled(serving: &Serving) -> String {
    let id = create(
        serving,
        &json!({
            "voxelType": "uint8", "dimensions": SIZE, "compression": "raw", "label": "shades",
            "resolutionLevels": [
                {"resolutions": [1, 1, 1], "blockDimensions": [20, 20, 4]},
                {"resolutions": [2, 2, 2], "blockDimensions": [32, 24, 3]},
            ],
        }),
    );
    for (z, y, x) in (0..2).flat_map(|z| (0..3).flat_map(move |y| (0..4).map(move |x| (z, y, x)))) {
        let (start, full) = ([x * 20, y * 20, z * 4], [20, 20, 4]);
        let size: [usize; 3] = std::array::from_fn(|axis| full[axis].min(SIZE[axis] - start[axis]));
        let mut elements = Vec::new();
        for c in 0..size[2] {
            for b in 0..size[1] {
                elements.extend(
                    (0..size[0]).map(|a| value([start[0] + a, start[1] + b, start[2] + c])),
                );
            }
        }
        let path = format!("/datasets/{id}/1/1/1/0/{x}/{y}/{z}/0/0/0");
        write(serving, &path, &wire(size.map(|size| u32::try_from(size).unwrap()), &elements));
    }
    let path = format!("/datasets/{id}/2/2/2/0/0/0/0/0/0/0");
    write(serving, &path, &wire([32, 24, 3], &[77; 32 * 24 * 3]));
    id
}

/// Nothing has gone wrong in the page, and nobody else was asked.
fn check(driven: &Driven, serving: &Serving) {
    assert_eq!(driven.errors(), Vec::<String>::new());
    let own = serving.url("");
    let is_other = |url: &&String| {
        !url.starts_with(&own) && !url.starts_with("blob:") && !url.starts_with("about:")
    };
    assert_eq!(driven.requests().iter().filter(is_other).count(), 0, "{:?}", driven.requests());
}

#[test]
fn slices_have_the_shades_of_their_elements_and_levels_follow_the_zoom() {
    let Some(browser) = chromium() else { return };
    let folder = Folder::new();
    let serving = Serving::start(&["datastore", &folder.at("root"), "--write"]);
    let id = filled(&serving);
    let mut driven = Driven::start(&browser);
    driven.window(SCREEN, false);
    driven.open(&serving.url(""));
    driven.wait_for("document.querySelector('#list a')");
    let listed = driven.ask("document.querySelector('#list a').innerText");
    let listed = listed.as_str().unwrap();
    assert!(listed.contains("shades") && listed.contains("64 × 48 × 6 uint8"), "{listed}");
    assert!(listed.contains("1 version · 2 levels"), "{listed}");
    driven.ask("document.querySelector('#list a').click()");
    driven.wait_for(DRAWN);
    driven.ask(TOOLS);
    driven.ask("type('low-number', 0); type('high-number', 255); frame()");
    assert_eq!(driven.ask("canvas.dataset.level"), "1/1/1");
    assert!(driven.ask("location.hash").as_str().unwrap().contains(&id));
    for slice in [3, 5] {
        driven.ask(&format!("type('position-number', {slice}); frame()"));
        driven.wait_for(DRAWN);
        for [x, y] in [[0, 0], [63, 0], [0, 47], [63, 47], [19, 20], [20, 19], [40, 39], [31, 24]] {
            let shade = driven.ask(&format!("shade({x}, {y}, 64, 48)"));
            assert_eq!(shade, value([x, y, slice]), "{x}, {y}, {slice}");
        }
    }
    // Across other axes, by keys; the middle of each is shown first.
    driven.ask("canvas.focus()");
    for (key, plane) in [("y", "xz"), ("x", "yz")] {
        driven.key(key, 0);
        driven.ask("frame()");
        driven.wait_for(DRAWN);
        assert_eq!(driven.ask("document.querySelector('#planes :checked').value"), plane);
        for [across, z] in [[0, 0], [10, 3], [47, 5]] {
            let width = if plane == "xz" { 64 } else { 48 };
            let position = if plane == "xz" { [across, 24, z] } else { [32, across, z] };
            let shade = driven.ask(&format!("shade({across}, {z}, {width}, 6)"));
            assert_eq!(shade, value(position), "{plane} {position:?}");
        }
    }
    driven.key("PageUp", 33);
    driven.wait_for("document.getElementById('position-number').value === '33'");
    // Zooming out takes the coarser level, and in again the finest.
    driven.key("z", 0);
    driven.ask("frame()");
    let middle = driven.ask(
        "(() => { const box = canvas.getBoundingClientRect(); \
         return [box.left + box.width / 2, box.top + box.height / 2] })()",
    );
    let middle = (middle[0].as_f64().unwrap(), middle[1].as_f64().unwrap());
    let shade_there =
        "canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data[0]";
    driven.wheel(middle, 3000.0);
    driven.wait_for("canvas.dataset.level === '2/2/2'");
    driven.wait_for(DRAWN);
    assert_eq!(driven.ask(shade_there), 77);
    driven.wheel(middle, -3000.0);
    driven.wait_for("canvas.dataset.level === '1/1/1'");
    driven.wait_for(DRAWN);
    // The place of the pointer, and its value.
    driven.hover(middle);
    let said = driven.ask("document.getElementById('place').value");
    let (place, text) = said.as_str().unwrap().split_once(" · ").unwrap();
    let place: Vec<usize> = place.split(", ").map(|part| part.parse().unwrap()).collect();
    assert_eq!(place[2], 5);
    assert_eq!(text, value([place[0], place[1], 5]).to_string());
    assert_eq!(driven.ask(shade_there), value([place[0], place[1], 5]));
    // A drag by the width of many elements leads elsewhere.
    driven.ask("document.getElementById('fit').click(); frame()");
    driven.point("mousePressed", middle);
    driven.point("mouseMoved", (middle.0 - 150.0, middle.1));
    driven.point("mouseReleased", (middle.0 - 150.0, middle.1));
    driven.ask("frame()");
    driven.wait_for(DRAWN);
    let moved = driven.ask(
        "(() => { const zoom = Math.min(canvas.width * 0.96 / 64, canvas.height * 0.96 / 48, 200); \
         return Math.floor(32 + 150 / zoom) })()",
    );
    let x = usize::try_from(moved.as_u64().unwrap()).unwrap();
    assert!(x > 40);
    driven.hover(middle);
    let said = driven.ask("document.getElementById('place').value");
    assert!(said.as_str().unwrap().starts_with(&format!("{x}, ")), "after a drag to {x}: {said}");
    // The level may be chosen.
    driven.ask("choose('level', '1'); frame()");
    driven.wait_for("canvas.dataset.level === '2/2/2'");
    driven.wait_for(DRAWN);
    assert_eq!(driven.ask(shade_there), 77);
    check(&driven, &serving);
}

/// A type of elements: black, a quarter and white, the contrast, and the last one as text.
struct Kind {
    name: &'static str,
    elements: [&'static [u8]; 3],
    contrast: [&'static str; 2],
    text: &'static str,
}

const fn kind(
    name: &'static str,
    elements: [&'static [u8]; 3],
    contrast: [&'static str; 2],
    text: &'static str,
) -> Kind {
    Kind { name, elements, contrast, text }
}

const KINDS: [Kind; 10] = [
    kind("uint8", [b"\x00", b"\x33", b"\xcc"], ["0", "204"], "204"),
    kind("int8", [b"\x80", b"\xc0", b"\x7f"], ["-128", "127"], "127"),
    kind("uint16", [b"\x01\x00", b"\x01\x40", b"\x02\x00"], ["256", "512"], "512"),
    kind("int16", [b"\xff\x00", b"\xff\x40", b"\x00\x00"], ["-256", "0"], "0"),
    kind("uint32", [&[0; 4], b"\x40\0\0\0", &[0xff; 4]], ["0", "4294967295"], "4294967295"),
    kind(
        "int32",
        [b"\x80\0\0\0", b"\xc0\0\0\0", b"\x7f\xff\xff\xff"],
        ["-2147483648", "2147483647"],
        "2147483647",
    ),
    kind(
        "uint64",
        [&[0; 8], b"\x40\0\0\0\0\0\0\0", &[0xff; 8]],
        ["0", "18446744073709551615"],
        "18446744073709551615",
    ),
    kind(
        "int64",
        [b"\x80\0\0\0\0\0\0\0", b"\xc0\0\0\0\0\0\0\0", b"\x7f\xff\xff\xff\xff\xff\xff\xfe"],
        ["-9223372036854775808", "9223372036854775807"],
        "9223372036854775806",
    ),
    // -1.5, -0.5 and 2.5.
    kind("float32", [b"\xbf\xc0\0\0", b"\xbf\0\0\0", b"\x40\x20\0\0"], ["-1.5", "2.5"], "2.5"),
    // 0, 0.25 and 1.
    kind("float64", [&[0; 8], b"\x3f\xd0\0\0\0\0\0\0", b"\x3f\xf0\0\0\0\0\0\0"], ["0", "1"], "1"),
];

#[test]
fn elements_of_all_types_are_read_as_they_are() {
    let Some(browser) = chromium() else { return };
    let folder = Folder::new();
    let serving = Serving::start(&["datastore", &folder.at("root"), "--write"]);
    let mut driven = Driven::start(&browser);
    driven.window(SCREEN, true);
    for Kind { name: kind, elements, contrast: [low, high], text } in KINDS {
        let id = create(
            &serving,
            &json!({
                "voxelType": kind, "dimensions": [4, 1, 1], "compression": "gzip",
                "resolutionLevels": [{"resolutions": [1, 1, 1], "blockDimensions": [4, 1, 1]}],
            }),
        );
        let [black, quarter, white] = elements;
        let path = format!("/datasets/{id}/1/1/1/0/0/0/0/0/0/0");
        let all = [black, quarter, white, white].concat();
        write(&serving, &path, &wire([4, 1, 1], &all));
        driven.open("about:blank");
        driven.open(&serving.url(&format!("#{id}")));
        driven.wait_for(&format!("document.title.includes('{id}') && {DRAWN}"));
        driven.ask(TOOLS);
        driven.ask(&format!("type('low-number', '{low}'); type('high-number', '{high}'); frame()"));
        let shades = driven.ask("[0, 1, 2, 3].map((x) => shade(x, 0, 4, 1))");
        let quarter = shades[1].as_u64().unwrap();
        assert_eq!([&shades[0], &shades[2], &shades[3]], [0, 255, 255], "{kind} {shades}");
        assert!((63..=65).contains(&quarter), "{kind} {shades}");
        let place = driven.ask(
            "(() => { const box = canvas.getBoundingClientRect(); const wide = Math.min(canvas.width * 0.24, 200); \
             return [box.left + box.width / 2 + wide * 1.5, box.top + box.height / 2] })()",
        );
        let place = (place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
        driven.hover(place);
        let said = driven.ask("document.getElementById('place').value");
        assert_eq!(said, format!("3, 0, 0 · {text}"), "{kind}");
    }
    check(&driven, &serving);
}

#[test]
fn phones_and_dark_screens_have_a_page_that_fits() {
    let Some(browser) = chromium() else { return };
    let folder = Folder::new();
    let serving = Serving::start(&["datastore", &folder.at("root"), "--write"]);
    let id = filled(&serving);
    let mut driven = Driven::start(&browser);
    for (window, is_dark) in [(PHONE, false), (PHONE, true), (SCREEN, true)] {
        driven.window(window, is_dark);
        driven.open("about:blank");
        driven.open(&serving.url(""));
        driven.wait_for("document.querySelector('#list a')?.getClientRects().length");
        let overflow = "document.documentElement.scrollWidth - innerWidth";
        assert_eq!(driven.ask(overflow), 0, "{window:?}");
        driven.open(&serving.url(&format!("#{id}")));
        driven.wait_for(DRAWN);
        assert_eq!(driven.ask(overflow), 0, "{window:?}");
        // On a phone either the list is shown or a data set, on a screen both.
        let list = driven.ask("document.querySelector('#list a').getClientRects().length");
        assert_eq!(list, u64::from(window == SCREEN));
        let ground = driven.ask("getComputedStyle(document.documentElement).backgroundColor");
        let channels = ground.as_str().unwrap().trim_start_matches("rgb(").trim_end_matches(')');
        let sum: u32 = channels.split(", ").map(|part| part.parse::<u32>().unwrap()).sum();
        assert_eq!(sum < 384, is_dark, "{ground}");
        // Whatever is to be touched is large enough on a phone.
        let least = "Math.min(...[...document.querySelectorAll('#settings button, #settings select, #planes span')] \
             .filter((one) => one.getClientRects().length).map((one) => one.getBoundingClientRect().height))";
        assert!(driven.ask(least).as_f64().unwrap() >= if window == PHONE { 40.0 } else { 32.0 });
    }
    check(&driven, &serving);
}

#[test]
fn a_token_is_asked_for_in_words_and_kept_in_the_tab() {
    let Some(browser) = chromium() else { return };
    let folder = Folder::new();
    let (file, root) = (folder.at("tokens.json"), folder.at("root"));
    let id = {
        let serving = Serving::start(&["datastore", &root, "--write"]);
        filled(&serving)
    };
    let token = rechunk(&["serve", "token", "add", &file, "ada"]).ok().stdout;
    let serving = Serving::start(&["datastore", &root, "--tokens", &file]);
    let mut driven = Driven::start(&browser);
    driven.window(SCREEN, false);
    driven.open(&serving.url(""));
    driven.wait_for("!document.getElementById('trouble').hidden");
    let said = driven.ask("document.getElementById('trouble').innerText");
    assert!(said.as_str().unwrap().contains("only with a token"), "{said}");
    driven.ask(&format!(
        "document.getElementById('token-text').value = '{}'; \
         document.querySelector('#token button').click()",
        token.trim()
    ));
    driven.wait_for("document.querySelector('#list a')");
    assert_eq!(driven.ask("document.getElementById('trouble').hidden"), true);
    assert_eq!(driven.ask("document.getElementById('access').innerText"), "read only");
    driven.ask("document.querySelector('#list a').click()");
    driven.wait_for(DRAWN);
    // Another page of the tab has it, too; and it is in no address.
    driven.open("about:blank");
    driven.open(&serving.url(&format!("#{id}")));
    driven.wait_for(DRAWN);
    driven.ask("document.getElementById('forget').click()");
    driven.wait_for("!document.getElementById('trouble').hidden");
    assert!(!driven.requests().iter().any(|url| url.contains(token.trim())));
}
