//! Chromium without a screen, driven through chromedriver.

use std::{
    io::{BufRead as _, BufReader},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
};

use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Map, json};

/// The process of chromedriver. It is killed with its browsers when this is dropped.
pub(crate) struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        use nix::{
            sys::signal::{Signal, killpg},
            unistd::Pid,
        };
        // With the browsers that chromedriver has started: it does not always end them itself.
        let group = Pid::from_raw(self.0.id().cast_signed());
        let _ = killpg(group, Signal::SIGKILL);
        let _ = self.0.wait();
    }
}

impl Driver {
    /// A new browser, which speaks this language, and what steers it.
    pub(crate) async fn start(language: &str) -> (Self, Client) {
        let driver = Command::new("chromedriver")
            .args(["--port=0", "--log-level=SEVERE"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        let mut driver = driver.expect("chromedriver is installed (Debian: chromium-driver)");
        let mut lines = BufReader::new(driver.stdout.take().expect("it is piped")).lines();
        let driver = Self(driver);
        let port = lines.find_map(|line| {
            let line = line.expect("it is text");
            let (_, port) = line.split_once("started successfully on port ")?;
            Some(port.trim_end_matches('.').to_owned())
        });
        let arguments = json!([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-extensions",
            "--no-first-run",
            "--window-size=1200,900",
            format!("--accept-lang={language}"),
            format!("--lang={language}"),
        ]);
        let mut capabilities = Map::new();
        capabilities.insert(
            "goog:chromeOptions".to_owned(),
            json!({ "args": arguments }),
        );
        // Certificates here are signed by nobody.
        capabilities.insert("acceptInsecureCerts".to_owned(), json!(true));
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities);
        let url = format!("http://127.0.0.1:{}", port.expect("it listens"));
        let client = builder.connect(&url).await.expect("it answers");
        (driver, client)
    }
}
