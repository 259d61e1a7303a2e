//! Pages in a real browser: Chromium without a window, if there is one.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::harness::Folder;

/// Windows are not narrower than this: pages stand in a frame of their own width.
const WINDOW_WIDTH_MIN: u32 = 500;

/// The browser that `RECHUNK_CHROMIUM` names, else one on the path.
pub(crate) fn chromium() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("RECHUNK_CHROMIUM") {
        let path = PathBuf::from(path);
        assert!(path.exists(), "RECHUNK_CHROMIUM names {}, which is not there", path.display());
        return Some(path);
    }
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|directory| names.map(|name| directory.join(name)))
        .find(|program| program.is_file());
    if found.is_none() {
        println!(
            "SKIPPED: no browser looks at the pages: install chromium (apt-get install chromium) or \
             name one in RECHUNK_CHROMIUM"
        );
    }
    found
}

/// A page in a frame, as a browser shows it.
pub(crate) struct Shown<'a> {
    pub browser: &'a Path,
    /// The page's text.
    pub page: &'a str,
    pub width: u32,
    pub height: u32,
    pub is_dark: bool,
}

/// A picture: 8 bits each of red, green and blue.
pub(crate) struct Picture {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<[u8; 3]>,
}

/// Measures a page in its frame: what overflows its width, and which words lie on each other.
const MEASURE: &str = r"
onload = function () {
  var page = document.getElementById('page').contentDocument, root = page.documentElement;
  var overlaps = [];
  function visible(one) { return one.getClientRects().length }
  function check(group) {
    var words = Array.prototype.filter.call(group, visible);
    words.forEach(function (one, at) {
      var a = one.getBoundingClientRect();
      words.slice(at + 1).forEach(function (other) {
        var b = other.getBoundingClientRect();
        if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2)
          overlaps.push(one.textContent + ' / ' + other.textContent);
      });
    });
  }
  ['.xs', '.ys', 'figure svg', '.band'].forEach(function (place) {
    page.querySelectorAll(place).forEach(function (one) { check(one.querySelectorAll('span, text')) });
  });
  page.querySelectorAll('.plot').forEach(function (one) { check(one.querySelectorAll('b')) });
  document.title = JSON.stringify({
    scroll_width: root.scrollWidth, client_width: root.clientWidth, height: root.scrollHeight,
    dark: matchMedia('(prefers-color-scheme: dark)').matches, overlaps: overlaps,
    drawings: page.querySelectorAll('svg').length,
    button: page.querySelectorAll('#all button').length
  });
};";

impl Shown<'_> {
    /// Returns the browser's measurements of the page.
    pub(crate) fn measured(&self) -> Value {
        let dom = String::from_utf8(self.run(&["--dump-dom"], None)).unwrap();
        let title = dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next());
        let title = title.unwrap_or_else(|| panic!("the browser says nothing: {dom:.300}"));
        let json = title.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
        serde_json::from_str(&json).unwrap()
    }

    /// The upper part of the page, as high as the frame.
    pub(crate) fn picture(&self) -> Picture {
        let folder = Folder::new();
        let path = folder.at("page.png");
        self.run(&[], Some(&path));
        let picture = Picture::decode(&std::fs::read(&path).unwrap());
        picture.cropped(self.width as usize, self.height as usize)
    }

    fn run(&self, arguments: &[&str], screenshot: Option<&str>) -> Vec<u8> {
        let folder = Folder::new();
        let file = folder.at("frame.html");
        let page = self.page.replace('&', "&amp;").replace('"', "&quot;");
        let (width, height) = (self.width, self.height);
        let frame = format!(
            "<!DOCTYPE html><html><head><title></title></head><body style=\"margin:0\"><iframe \
             id=\"page\" style=\"border:0;display:block;width:{width}px;height:{height}px\" \
             srcdoc=\"{page}\"></iframe><script>{MEASURE}</script></body></html>"
        );
        std::fs::write(&file, frame).unwrap();
        let scheme = u8::from(!self.is_dark);
        let mut command = Command::new(self.browser);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
        command.arg("--no-first-run").arg("--force-device-scale-factor=1");
        command.arg(format!("--blink-settings=preferredColorScheme={scheme}"));
        command.arg(format!("--window-size={},{height}", width.max(WINDOW_WIDTH_MIN)));
        command.arg(format!("--user-data-dir={}", folder.at("profile")));
        command.args(arguments).args(screenshot.map(|path| format!("--screenshot={path}")));
        // Whatever it would fetch is not there.
        command.args(["--proxy-server=127.0.0.1:9", "--disable-background-networking"]);
        let output = command.arg(format!("file://{file}")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }
}

impl Picture {
    /// Reads a PNG of 8-bit red, green, blue and perhaps alpha, which is what browsers write.
    fn decode(png: &[u8]) -> Self {
        use std::io::Read;
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
        let (width, height) = (number(16), number(20));
        let channels = match (png[24], png[25]) {
            (8, 2) => 3,
            (8, 6) => 4,
            other => panic!("a PNG of another kind: {other:?}"),
        };
        let (mut at, mut packed) = (8, Vec::new());
        while at < png.len() {
            let length = number(at);
            if &png[at + 4..at + 8] == b"IDAT" {
                packed.extend_from_slice(&png[at + 8..at + 8 + length]);
            }
            at += length + 12;
        }
        let mut rows = Vec::new();
        flate2::read::ZlibDecoder::new(&packed[..]).read_to_end(&mut rows).unwrap();
        let row_bytes = width * channels;
        let mut before = vec![0; row_bytes];
        let mut pixels = Vec::with_capacity(width * height);
        for row in rows.chunks(row_bytes + 1) {
            let mut line = row[1..].to_vec();
            for x in 0..row_bytes {
                let left = if x < channels { 0 } else { line[x - channels] };
                let up_left = if x < channels { 0 } else { before[x - channels] };
                let added = match row[0] {
                    0 => 0,
                    1 => left,
                    2 => before[x],
                    3 => u8::midpoint(left, before[x]),
                    _ => paeth(left, before[x], up_left),
                };
                line[x] = line[x].wrapping_add(added);
            }
            pixels.extend(line.chunks(channels).map(|pixel| [pixel[0], pixel[1], pixel[2]]));
            before = line;
        }
        Self { width, height, pixels }
    }

    fn cropped(self, width: usize, height: usize) -> Self {
        let (width, height) = (width.min(self.width), height.min(self.height));
        let rows = self.pixels.chunks(self.width).take(height);
        let pixels = rows.flat_map(|row| row[..width].iter().copied()).collect();
        Self { width, height, pixels }
    }

    /// Mean of all colours, 0 black to 255 white.
    pub(crate) fn lightness(&self) -> f64 {
        let sum: f64 = self.pixels.iter().flatten().map(|&part| f64::from(part)).sum();
        sum / (self.pixels.len() * 3) as f64
    }

    /// Number of the `bands` parts of its height that have something on them.
    pub(crate) fn bands_in_use(&self, bands: usize) -> usize {
        let rows = self.height.div_ceil(bands) * self.width;
        let in_use = |band: &&[[u8; 3]]| {
            let ground = band[0];
            let differs =
                |pixel: &&[u8; 3]| (0..3).any(|part| pixel[part].abs_diff(ground[part]) > 60);
            band.iter().filter(differs).count() > band.len() / 500
        };
        self.pixels.chunks(rows).filter(in_use).count()
    }
}

/// The PNG filter of that name.
fn paeth(left: u8, up: u8, up_left: u8) -> u8 {
    let [a, b, c] = [left, up, up_left].map(i16::from);
    let [pa, pb, pc] = [b - c, a - c, a + b - 2 * c].map(i16::abs);
    if pa <= pb && pa <= pc {
        left
    } else if pb <= pc {
        up
    } else {
        up_left
    }
}
