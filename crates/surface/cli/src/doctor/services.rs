//! Checks that the search service answers, and that the browser is installed.

use config::read::ServiceConfig;
use config::sections::scrape::{ChromiumSetting, ScrapeConfig};
use config::sections::search::SearchService;
use futures_util::future::join_all;

use super::CheckFinding;
use super::probe_client::ProbeClient;

pub(super) async fn check_services(config: &ServiceConfig) -> Vec<CheckFinding> {
    let mut findings = vec![check_chromium(&config.scrape)];
    let named = list_configured_services(config);
    if named.is_empty() {
        return findings;
    }
    match ProbeClient::new() {
        Ok(client) => {
            let answers =
                named.iter().map(|(check, url)| check_service_answer(&client, check, url));
            findings.extend(join_all(answers).await);
        }
        Err(finding) => findings.push(finding),
    }
    findings
}

/// Returns the setting and the URL of each service.
fn list_configured_services(config: &ServiceConfig) -> Vec<(&'static str, &str)> {
    let search = match &config.search.service {
        SearchService::Searxng { url, .. } => Some(url.as_str()),
        SearchService::Brave { url, .. } | SearchService::Tavily { url, .. } => url.as_deref(),
        SearchService::Off => None,
    };
    search.map(|url| ("search.url", url)).into_iter().collect()
}

/// Checks that a service answers, with any status below 500. The URL is not shown, because it may
/// contain a key.
async fn check_service_answer(client: &ProbeClient, check: &str, url: &str) -> CheckFinding {
    match client.get(url).await {
        Ok(response) if 500 <= response.head.status() => {
            let found = format!("answers {}", response.head.status_text());
            CheckFinding::warning(check, found, "check its log")
        }
        Ok(_) => CheckFinding::ok(check, "answers"),
        Err(failure) => {
            let reason = failure.describe("cannot connect");
            CheckFinding::failed(check, reason, format!("start it, or correct `{check}`"))
        }
    }
}

fn check_chromium(scrape: &ScrapeConfig) -> CheckFinding {
    const CHECK: &str = "scrape.chromium";
    match &scrape.chromium {
        ChromiumSetting::Off => CheckFinding::ok(CHECK, "off"),
        ChromiumSetting::At(path) if path.is_file() => {
            CheckFinding::ok(CHECK, path.display().to_string())
        }
        ChromiumSetting::At(path) => {
            let found = format!("{} is not there", path.display());
            CheckFinding::failed(
                CHECK,
                found,
                "install it, or set `chromium` to \"auto\" or \"off\"",
            )
        }
        ChromiumSetting::Auto => match find_browser_path() {
            Some(path) => CheckFinding::ok(CHECK, path),
            None => {
                let fix = "install chromium, or set `chromium = \"off\"` in [scrape]";
                CheckFinding::warning(CHECK, "no browser found; pages that need one fail", fix)
            }
        },
    }
}

fn find_browser_path() -> Option<String> {
    const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "headless-shell"];
    let folders = std::env::var_os("PATH")?;
    let mut candidates =
        std::env::split_paths(&folders).flat_map(|folder| NAMES.map(|name| folder.join(name)));
    candidates.find(|path| path.is_file()).map(|path| path.display().to_string())
}
