//! Tests with a malicious site: every trick by which a public-looking URL leads to a private
//! address.

mod site;

use std::io::Write as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use sandbox::CallerId;

use self::site::{Site, fetcher, page};
use super::*;

fn ask() -> FetchRequest {
    FetchRequest::get(CallerId(1), "text/html", 1024, Duration::from_secs(5))
}

async fn fetched(site: &Site, address: &str) -> Result<FetchResponse, FetchFault> {
    let fetcher = fetcher(site);
    let address = fetcher.parse(address)?;
    fetcher.fetch(&address, &ask()).await
}

#[tokio::test]
async fn a_public_page_is_fetched_from_the_number_that_was_judged() {
    let site = Site::start(|_| page("text/html", "hello")).await;
    let fetched = fetched(&site, "http://public.example.com/a?b=c").await.unwrap();
    assert_eq!((fetched.status, fetched.body.as_ref()), (200, b"hello".as_slice()));
    let seen = site.seen();
    assert!(seen[0].starts_with("GET /a?b=c HTTP/1.1\r\n"), "{seen:?}");
    assert!(seen[0].contains("host: public.example.com\r\n"), "{seen:?}");
    assert_eq!(site.names.lookups.load(Ordering::Relaxed), 1, "nobody is asked a second time");
}

#[tokio::test]
async fn names_that_lead_inward_are_refused_before_anything_is_sent() {
    let site = Site::start(|_| page("text/html", "secret")).await;
    for name in [
        "inward.example.com",   // 127.0.0.1
        "metadata.example.com", // 169.254.169.254
        "mapped.example.com",   // ::ffff:10.0.0.1
        "tunnel.example.com",   // 2002:7f00:1::
        "nat64.example.com",    // 64:ff9b::7f00:1
        "unique.example.com",   // fd00::1
        "mixed.example.com",    // one public, one private
    ] {
        let fault = fetched(&site, &format!("http://{name}/")).await.unwrap_err();
        assert_eq!(fault, FetchFault::Private, "{name}");
        assert!(fault.is_of_address());
    }
    assert!(site.seen().is_empty());
}

#[tokio::test]
async fn redirects_are_judged_like_what_the_caller_named() {
    for location in [
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://2130706433/",
        "//169.254.169.254/latest/meta-data/",
        "http://localhost/",
        "http://router/",
        "ftp://public.example.com/",
        "file:///etc/passwd",
        "http://public.example.com:22/",
        "http://user:secret@public.example.com/",
        "http://inward.example.com/",
    ] {
        let head =
            format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
        let site = Site::start(move |_| head.clone().into_bytes()).await;
        let fault = fetched(&site, "http://public.example.com/").await.unwrap_err();
        assert!(fault.is_of_address(), "{location}: {fault}");
        assert_eq!(site.seen().len(), 1, "{location}");
    }
}

#[tokio::test]
async fn a_name_that_changes_between_two_looks_is_judged_at_each() {
    let site = Site::start(|_| page("text/html", "x")).await;
    let fetcher = fetcher(&site);
    let address = fetcher.parse("http://rebinding.example.com/").unwrap();
    assert!(fetcher.fetch(&address, &ask()).await.is_ok());
    assert_eq!(fetcher.fetch(&address, &ask()).await.unwrap_err(), FetchFault::Private);
    assert_eq!(site.seen().len(), 1);
}

#[tokio::test]
async fn redirects_come_to_an_end() {
    let again = "HTTP/1.1 301 Moved\r\nlocation: /again\r\ncontent-length: 0\r\n\r\n";
    let site = Site::start(move |_| again.as_bytes().to_vec()).await;
    let fault = fetched(&site, "http://public.example.com/").await.unwrap_err();
    assert_eq!(fault, FetchFault::Redirects);
    assert_eq!(site.seen().len(), 6);
}

#[tokio::test]
async fn a_redirect_within_the_web_is_followed() {
    let site = Site::start(|path| match path {
        "/old" => b"HTTP/1.1 308 Moved\r\nlocation: /new\r\ncontent-length: 0\r\n\r\n".to_vec(),
        _ => page("text/markdown", "# New"),
    })
    .await;
    let fetched = fetched(&site, "http://public.example.com/old").await.unwrap();
    assert_eq!(fetched.address.as_str(), "http://public.example.com/new");
    assert_eq!(fetched.media_type(), "text/markdown");
}

#[tokio::test]
async fn what_is_too_long_is_not_read_to_its_end() {
    for body in [
        "HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\n\r\n{}", "a".repeat(2000)),
    ] {
        let site = Site::start(move |_| body.clone().into_bytes()).await;
        let fault = fetched(&site, "http://public.example.com/").await.unwrap_err();
        assert_eq!(fault, FetchFault::TooLarge(1024));
    }
}

#[tokio::test]
async fn a_short_body_that_unpacks_to_a_long_one_is_refused() {
    let packed = |length: usize| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&vec![b'a'; length]).unwrap();
        let packed = encoder.finish().unwrap();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            packed.len()
        );
        [head.into_bytes(), packed].concat()
    };
    let site = Site::start(move |path| packed(if path == "/bomb" { 500_000 } else { 1024 })).await;
    let fault = fetched(&site, "http://public.example.com/bomb").await.unwrap_err();
    assert_eq!(fault, FetchFault::TooLarge(1024));
    let fetched = fetched(&site, "http://public.example.com/").await.unwrap();
    assert_eq!(fetched.body.len(), 1024);
}

#[tokio::test]
async fn an_answer_that_never_ends_is_given_up() {
    let site = Site::start(|_| b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".to_vec()).await;
    site.holds.store(true, Ordering::Relaxed);
    let fetcher = fetcher(&site);
    let address = fetcher.parse("http://public.example.com/").unwrap();
    let ask = FetchRequest { time_max: Duration::from_millis(200), ..ask() };
    assert_eq!(fetcher.fetch(&address, &ask).await.unwrap_err(), FetchFault::TimedOut);
}

#[tokio::test]
async fn what_breaks_off_or_is_no_answer_is_told() {
    for bytes in ["HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc", "SSH-2.0-OpenSSH\r\n", ""] {
        let site = Site::start(move |_| bytes.as_bytes().to_vec()).await;
        let fault = fetched(&site, "http://public.example.com/").await.unwrap_err();
        assert_eq!(fault, FetchFault::Broken, "{bytes:?}");
    }
    let site = Site::start(|_| Vec::new()).await;
    let fault = fetched(&site, "http://unknown.example.com/").await.unwrap_err();
    assert_eq!(fault, FetchFault::NoHost);
}

#[tokio::test]
async fn the_first_500_kib_of_a_longer_robots_txt_apply() {
    const KEPT: usize = 500 * 1024;
    let rules = "User-agent: *\nDisallow: /private\n";
    // The limit is in the middle of the last rule, after its slash.
    let cut = "Disallow: /";
    let padding = "#".repeat(KEPT - rules.len() - cut.len() - 1);
    let text = format!("{rules}{padding}\n{cut}late\n{}", "#\n".repeat(400_000));
    let packed = {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        let packed = encoder.finish().unwrap();
        let head = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n";
        [head.as_bytes().to_vec(), packed].concat()
    };
    let without_length = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{text}");
    for answer in [page("text/plain", &text), packed, without_length.into_bytes()] {
        let site = Site::start(move |_| answer.clone()).await;
        let fetcher = fetcher(&site);
        for (path, is_allowed) in [("private", false), ("late", true), ("other", true)] {
            let robots = crate::robots::RobotsCache::default();
            let address = fetcher.parse(&format!("http://public.example.com/{path}")).unwrap();
            let allowed = robots.is_page_allowed(&fetcher, &address, CallerId(7)).await;
            assert_eq!(allowed, Ok(is_allowed), "{path}");
        }
    }
}

#[tokio::test]
async fn the_rules_of_a_site_are_looked_up_for_the_caller_who_wants_the_page() {
    let site = Site::start(|_| page("text/plain", "User-agent: *\nDisallow: /private")).await;
    let fetcher = fetcher(&site);
    let robots = crate::robots::RobotsCache::default();
    let address = fetcher.parse("http://public.example.com/private").unwrap();
    assert_eq!(robots.is_page_allowed(&fetcher, &address, CallerId(7)).await, Ok(false));
    assert_eq!(*site.names.callers.lock().unwrap(), [Some(CallerId(7))]);
}
