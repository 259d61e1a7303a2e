//! A browser that is driven: pages are opened, clicked and asked, over the DevTools protocol.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::Folder;

/// A browser with one page, which is killed when this is dropped.
pub(crate) struct Driven {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    number: u64,
    session: Option<String>,
    events: Vec<Value>,
    _profile: Folder,
}

impl Drop for Driven {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Driven {
    pub(crate) fn start(browser: &Path) -> Self {
        let profile = Folder::new();
        // It reads commands from descriptor 3 and answers on 4.
        let script = "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(browser).arg("--remote-debugging-pipe");
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
        command.args(["--no-first-run", "--disable-background-networking"]);
        command.args(["--disable-component-update", "--disable-sync"]);
        // Other hosts are not there; addresses of this machine need no proxy.
        command.arg("--proxy-server=127.0.0.1:9");
        command.arg(format!("--user-data-dir={}", profile.at("profile"))).arg("about:blank");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let output = BufReader::new(output);
        let mut driven = Self {
            child,
            input,
            output,
            number: 0,
            session: None,
            events: Vec::new(),
            _profile: profile,
        };
        let begun = Instant::now();
        let target = loop {
            let targets = driven.command("Target.getTargets", &json!({}));
            let all = targets["targetInfos"].as_array().unwrap().clone();
            if let Some(page) = all.into_iter().find(|target| target["type"] == "page") {
                break page;
            }
            assert!(begun.elapsed() < Duration::from_mins(1), "the browser has no page");
            std::thread::sleep(Duration::from_millis(50));
        };
        let wanted = json!({"targetId": target["targetId"], "flatten": true});
        let attached = driven.command("Target.attachToTarget", &wanted);
        driven.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            driven.command(&format!("{domain}.enable"), &json!({}));
        }
        driven
    }

    /// The answer of the browser to a command.
    pub(crate) fn command(&mut self, method: &str, parameters: &Value) -> Value {
        self.number += 1;
        let mut sent = json!({"id": self.number, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            sent["sessionId"] = json!(session);
        }
        self.input.write_all(format!("{sent}\0").as_bytes()).unwrap();
        self.input.flush().unwrap();
        loop {
            let mut came = Vec::new();
            self.output.read_until(0, &mut came).unwrap();
            assert_eq!(came.pop(), Some(0), "the browser has ended: {method}");
            let mut came: Value = serde_json::from_slice(&came).unwrap();
            if came["id"] == self.number {
                assert!(came.get("error").is_none(), "{method}: {came}");
                return came["result"].take();
            }
            self.events.push(came);
        }
    }

    /// A window of this size, on a screen in dark or light colours.
    pub(crate) fn window(&mut self, (width, height): (u32, u32), is_dark: bool) {
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500,
        });
        self.command("Emulation.setDeviceMetricsOverride", &metrics);
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.command("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    pub(crate) fn open(&mut self, url: &str) {
        self.command("Page.navigate", &json!({"url": url}));
    }

    /// The value of an expression, or of what it promises.
    pub(crate) fn ask(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let mut answer = self.command("Runtime.evaluate", &asked);
        let thrown = answer.get("exceptionDetails");
        assert!(thrown.is_none(), "{expression}: {}", thrown.unwrap());
        answer["result"]["value"].take()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let begun = Instant::now();
        // As long as the page is not there, whatever is asked of it fails.
        let asked = format!(
            "(() => {{ try {{ return Boolean({expression}) }} catch {{ return false }} }})()"
        );
        while self.ask(&asked) != true {
            if begun.elapsed() > Duration::from_mins(1) {
                let said = self.ask("document.body.innerText");
                panic!("{expression} does not become true: {said}");
            }
            std::thread::sleep(Duration::from_millis(40));
        }
    }

    /// Turns the wheel at a place of the page; below 0 is towards its top.
    pub(crate) fn wheel(&mut self, (x, y): (f64, f64), turned: f64) {
        let event = json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": turned});
        self.command("Input.dispatchMouseEvent", &event);
    }

    /// Moves the pointer there, with no button down.
    pub(crate) fn hover(&mut self, (x, y): (f64, f64)) {
        let event = json!({"type": "mouseMoved", "x": x, "y": y});
        self.command("Input.dispatchMouseEvent", &event);
        self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    }

    /// Presses, drags or lets go the button of the pointer.
    pub(crate) fn point(&mut self, kind: &str, (x, y): (f64, f64)) {
        let event = json!({
            "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1,
        });
        self.command("Input.dispatchMouseEvent", &event);
    }

    /// Types a key by its name, and its number on keyboards of Windows, 0 for letters.
    pub(crate) fn key(&mut self, key: &str, number: u32) {
        for kind in ["keyDown", "keyUp"] {
            let event = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": number,
            });
            self.command("Input.dispatchKeyEvent", &event);
        }
    }

    /// Errors of the page, and of requests for it, since it was opened.
    pub(crate) fn errors(&self) -> Vec<String> {
        let is_error = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => event["params"]["type"] == "error",
            Some("Log.entryAdded") => event["params"]["entry"]["level"] == "error",
            _ => false,
        };
        self.events.iter().filter(is_error).map(|event| event["params"].to_string()).collect()
    }

    /// URLs of all requests.
    pub(crate) fn requests(&self) -> Vec<String> {
        let sent =
            self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let url = |event: &Value| event["params"]["request"]["url"].as_str().map(str::to_owned);
        sent.filter_map(url).collect()
    }
}
