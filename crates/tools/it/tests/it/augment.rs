//! Tests of `POST /augment/…`: pages, searches and documents, charged only with a result.

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;

pub(crate) const SCRAPE: &str = "/augment/scrape";
pub(crate) const SEARCH: &str = "/augment/search";
pub(crate) const PARSE: &str = "/augment/text-parser";
/// One cent.
const PRICE: i64 = 10_000_000;

const ARTICLE: &str = "<html><head><title>Ferries</title></head><body>\
    <nav><a href=/shop>Shop</a></nav><article><h1>Ferries</h1>\
    <p>The ferry leaves the harbour at seven, crosses the strait in an hour, and brings flour, \
    letters and people to the island, whatever the weather says about it.</p>\
    <p>It returns at nine, with the children who go to school on the other side, and with whatever \
    the island has to sell that day: cheese, wool, sometimes a boat.</p>\
    <p>See <a href=/map>the map</a>.</p></article><footer>Imprint</footer></body></html>";

async fn scrape(app: &TestApp, url: &str) -> TestReply {
    app.admin().post(SCRAPE, &json!({"url": url})).await
}

async fn refused(app: &TestApp, url: &str, status: u16) -> String {
    let reply = scrape(app, url).await;
    assert_eq!(reply.status, status, "{url}: {}", reply.text());
    assert_eq!(app.verify_spent().await.nanos(), 0, "{url}");
    reply.json()["error"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_page_is_scraped_and_paid() {
    let app = TestApp::start().await;
    app.site.put("/ferries", "text/html; charset=utf-8", ARTICLE);
    let reply = scrape(&app, "http://site.example.com/ferries#times").await;
    let result = reply.ok_json();
    assert_eq!(result["url"], "http://site.example.com/ferries#times", "as it was requested");
    assert_eq!(result["format"], "markdown");
    let content = result["content"].as_str().unwrap();
    assert!(content.contains("leaves the harbour at seven"), "{content}");
    assert!(content.contains("(http://site.example.com/map)"), "{content}");
    assert!(!content.contains("Imprint") && !content.contains("Shop"), "{content}");
    assert_eq!(reply.header("x-balance-remaining"), "9.99");
    assert_eq!(reply.header("x-ratelimit-limit-requests"), "20");
    assert_eq!(app.verify_spent().await.nanos(), PRICE);
    let usage = app.admin().get("/billing/usage").await.ok_json();
    assert_eq!(usage["data"][0]["sku"], "web-scrape");
}

#[tokio::test]
async fn the_sites_own_markdown_comes_first() {
    let app = TestApp::start().await;
    app.site.put("/a", "text/markdown", "# Own words");
    let page = "<html><head><link rel=alternate type=text/markdown href=/b-source></head>\
                <body><p>Not this.</p></body></html>";
    app.site.put("/b", "text/html", page);
    app.site.put("/b-source", "text/markdown", "# From the link");
    app.site.put("/llms.txt", "text/plain", "# This site writes for models");
    app.site.put("/c", "text/html", ARTICLE);
    app.site.put("/c.md", "text/plain", "# Beside it");
    app.site.put(
        "/d",
        "text/markdown",
        "<html><body><p>Relabelled page of five words.</p></body></html>",
    );
    for (path, content) in [("a", "# Own words"), ("b", "# From the link"), ("c", "# Beside it")] {
        let result = scrape(&app, &format!("http://site.example.com/{path}")).await.ok_json();
        assert_eq!(result["content"], content, "{path}");
    }
    let seen = app.site.requested_paths();
    assert_eq!(seen.iter().filter(|path| *path == "/llms.txt").count(), 1, "{seen:?}");
    let result = scrape(&app, "http://site.example.com/d").await.ok_json();
    let content = result["content"].as_str().unwrap();
    assert!(content.contains("Relabelled page") && !content.contains('<'), "{content}");
}

#[tokio::test]
async fn addresses_that_lead_inward_or_elsewhere_are_refused_unpaid() {
    let app = TestApp::start().await;
    app.site.put_redirect("/inward", "http://169.254.169.254/latest/meta-data/");
    app.site.put_redirect("/renamed", "http://inward.example.com/");
    for url in [
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://2130706433/",
        "http://localhost:8080/",
        "http://router/",
        "http://inward.example.com/",
        "http://user:secret@site.example.com/",
        "http://site.example.com:22/",
        "ftp://site.example.com/",
        "site.example.com",
        "http://site.example.com/inward",
        "http://site.example.com/renamed",
    ] {
        refused(&app, url, 400).await;
        app.clock.advance_s(61);
    }
    assert!(
        app.site.requested_paths().iter().all(|path| path.len() > 1),
        "{:?}",
        app.site.requested_paths()
    );
}

#[tokio::test]
async fn sites_that_block_programs_are_refused_at_once() {
    let app = TestApp::start().await;
    let told = refused(&app, "https://x.com/somebody/status/1", 400).await;
    assert_eq!(told, "X (formerly Twitter) blocks automated access to their content.");
    refused(&app, "https://old.reddit.com/r/rust", 400).await;
    assert!(app.site.requested_paths().is_empty(), "nobody was asked");
    app.site.put_status("/closed", 403, "<title>Forbidden</title>");
    app.site.put_status("/guarded", 503, "<title>Just a moment...</title>");
    app.site.put("/robots.txt", "text/plain", "User-agent: *\nDisallow: /private");
    refused(&app, "http://site.example.com/closed", 400).await;
    refused(&app, "http://site.example.com/guarded", 400).await;
    let told = refused(&app, "http://site.example.com/private/x", 400).await;
    assert!(told.contains("robots.txt"), "{told}");
}

#[tokio::test]
async fn pages_that_fail_are_told_apart_and_cost_nothing() {
    let app = TestApp::start().await;
    app.site.put_status("/broken", 500, "oops");
    app.site.put("/picture", "image/png", "x");
    app.site.put("/empty", "text/html", "<html><body></body></html>");
    assert!(refused(&app, "http://site.example.com/missing", 502).await.contains("404"));
    assert!(refused(&app, "http://site.example.com/broken", 502).await.contains("500"));
    refused(&app, "http://site.example.com/empty", 502).await;
    refused(&app, "http://unknown.example.com/", 502).await;
    refused(&app, "http://site.example.com/picture", 400).await;
}

#[tokio::test]
async fn whoever_cannot_pay_has_nothing_fetched() {
    let app = TestApp::start().await;
    let poor = app.another_account("poor").await;
    let reply = poor.post(SCRAPE, &json!({"url": "http://site.example.com/"})).await;
    assert_eq!(reply.status, 402, "{}", reply.text());
    assert!(app.site.requested_paths().is_empty());
}

#[tokio::test]
async fn a_search_gives_what_was_found() {
    let app = TestApp::start().await;
    app.site.put_results(json!([
        {"url": "https://a.example/", "title": "A", "content": "about a", "publishedDate": "2026-11-01"},
        {"url": "javascript:alert(1)", "title": "No page", "content": ""},
        {"url": "https://b.example/", "title": "B", "content": "about b"},
        {"url": "https://c.example/", "title": "C", "content": "about c"},
    ]));
    let body = json!({"query": "ferries & islands", "limit": 2});
    let reply = app.admin().post(SEARCH, &body).await;
    assert_eq!(
        reply.ok_json(),
        json!({"query": "ferries & islands", "results": [
            {"title": "A", "url": "https://a.example/", "content": "about a", "date": "2026-11-01"},
            {"title": "B", "url": "https://b.example/", "content": "about b", "date": ""},
        ]})
    );
    assert_eq!(app.site.requested_paths(), ["/search?q=ferries%20%26%20islands&format=json"]);
    assert_eq!(app.verify_spent().await.nanos(), PRICE);
}

#[tokio::test]
async fn a_search_that_fails_costs_nothing() {
    let app = TestApp::start().await;
    app.site.put_status("/search", 500, "");
    let reply = app.admin().post(SEARCH, &json!({"query": "x"})).await;
    assert_eq!(reply.status, 503, "{}", reply.text());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn the_text_of_a_document_is_read_and_paid() {
    let app = TestApp::start().await;
    let text = "A text of thirty-two letters .. ";
    let reply = app.admin().post_form(PARSE, &[], Some(("a.txt", text.as_bytes()))).await;
    let parsed: Value = reply.ok_json();
    assert_eq!(
        (parsed["text"].as_str().unwrap().trim(), &parsed["tokens"]),
        (text.trim(), &json!(10))
    );
    assert_eq!(app.verify_spent().await.nanos(), PRICE);
    let fields = [("response_format", "text")];
    let reply = app.admin().post_form(PARSE, &fields, Some(("a.txt", b"plain"))).await;
    assert_eq!((reply.status, reply.text().trim()), (200, "plain"));
    assert!(reply.header("content-type").starts_with("text/plain"));
}

#[tokio::test]
async fn files_without_text_cost_nothing() {
    let app = TestApp::start().await;
    for bytes in [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), b"%PDF-1.4 junk", b"", b" \n "] {
        let reply = app.admin().post_form(PARSE, &[], Some(("a.bin", bytes))).await;
        assert_eq!(reply.status, 400, "{}", reply.text());
    }
    let reply = app.admin().post_form(PARSE, &[("file", "text")], None).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn an_address_that_is_none_is_a_fault_of_the_field() {
    let app = TestApp::start().await;
    for url in ["site.example.com", "http://", "ftp://site.example.com/", "not a url"] {
        let reply = scrape(&app, url).await;
        assert_eq!(reply.status, 400, "{url}: {}", reply.text());
        let body = reply.json();
        assert_eq!(body["error"], "Invalid request parameters", "{url}");
        assert!(body["details"]["url"]["_errors"][0].is_string(), "{url}: {body}");
        assert_eq!(body["issues"][0]["path"], json!(["url"]), "{url}");
    }
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn a_page_that_needs_a_browser_where_none_works_is_an_error_and_free() {
    let app = TestApp::start().await;
    let shell = "<html><head><title>App</title><script src=a.js></script></head>\
                 <body><div id=root></div></body></html>";
    app.site.put("/app", "text/html", shell);
    refused(&app, "http://site.example.com/app", 502).await;
}
