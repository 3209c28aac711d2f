//! Serves the pages, with a policy that keeps browsers from loading anything from other origins.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use http_frame::app::{AppState, SharedApp};
use http_frame::base_paths::BASE_PATH;
use http_frame::refusal::Refusal;
use http_frame::reply;
use http_frame::static_content::StaticContent;
use serde_json::json;

use crate::console::ConsoleState;
use crate::console::assets::StaticAsset;

/// No inline scripts or styles, and nothing from other origins.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const PERMISSIONS: &str = "camera=(), geolocation=(), microphone=(self), payment=()";
static PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
static OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
static RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The operator's logo must not run scripts if it is opened by itself.
const LOGO_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// The operator's name and addresses, for pages without a session.
pub(super) async fn show_brand(State(app): State<SharedApp>) -> Response {
    let brand = &app.settings.brand;
    let body = json!({
        "name": brand.name,
        "hasLogo": brand.logo.is_some(),
        "supportEmail": brand.support_email,
        "termsUrl": brand.terms_url,
        "privacyUrl": brand.privacy_url,
    });
    ([(CACHE_CONTROL, "no-cache")], reply::respond_json(body.to_string())).into_response()
}

pub(super) async fn serve_logo(State(app): State<SharedApp>) -> Response {
    let Some(logo) = &app.settings.brand.logo else { return refuse_missing_page() };
    let head = [
        (CACHE_CONTROL, "no-cache"),
        (CONTENT_TYPE, logo.content_type),
        (CONTENT_SECURITY_POLICY, LOGO_POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (head, logo.bytes.to_vec()).into_response()
}

/// The only HTML page; its script renders all others.
pub(super) async fn serve_index(
    State(console): State<Arc<ConsoleState>>,
    headers: HeaderMap,
) -> Response {
    serve_file(&console, "index.html", &headers)
}

pub(super) async fn serve_favicon(
    State(console): State<Arc<ConsoleState>>,
    headers: HeaderMap,
) -> Response {
    serve_file(&console, "favicon.svg", &headers)
}

pub(super) async fn serve_asset(
    State(console): State<Arc<ConsoleState>>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Response {
    serve_file(&console, &format!("assets/{path}"), &headers)
}

/// A page of the documentation: rendered, or as Markdown with the extension `.md`.
pub(super) async fn serve_document(
    State(console): State<Arc<ConsoleState>>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Response {
    let pages = &console.assets.pages;
    match path.as_str() {
        "index.json" => return respond_with_listing(&console.static_files.index, &headers),
        "search.json" => return respond_with_listing(&console.static_files.search, &headers),
        _ => {}
    }
    let slug = path.strip_suffix(".md");
    let page = pages.iter().find(|page| page.slug == slug.unwrap_or(&path));
    match (page, slug) {
        (Some(page), Some(_)) => {
            let asset = StaticAsset { bytes: page.markdown.as_bytes(), tag: page.tag };
            respond_with_asset(&console, asset, "text/markdown; charset=utf-8", &headers)
        }
        (Some(_), None) => serve_file(&console, "index.html", &headers),
        // The API reference, rendered by the script.
        (None, None) if path == "api" => serve_file(&console, "index.html", &headers),
        (None, _) => refuse_missing_page(),
    }
}

/// The target of a character's `shareUrl`: redirects to a chat, without a check that it exists.
pub(super) async fn redirect_to_character(Path(slug): Path<String>) -> Response {
    if !slug.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return refuse_missing_page();
    }
    Redirect::to(&format!("/#/playground?character={slug}")).into_response()
}

/// `/llms.txt`: lists the documentation for callers, for language models.
pub(super) async fn serve_llms_text(
    State(app): State<SharedApp>,
    State(console): State<Arc<ConsoleState>>,
    headers: HeaderMap,
) -> Response {
    console.static_files.llms(|| llms_text(&app, &console)).respond(&headers)
}

fn llms_text(app: &AppState, console: &ConsoleState) -> String {
    let (base, name) = (&app.settings.public_url, &app.settings.brand.name);
    let mut text = format!(
        "# {name}\n\n> An HTTP API for AI inference and utilities, compatible with OpenAI's \
         clients, paid from prepaid credits or by a wallet (x402).\n\nThe API is below \
         {base}{BASE_PATH}; send `Authorization: Bearer <API_KEY>`.\n\n## Reference\n\n\
         - [OpenAPI 3.1]({base}{BASE_PATH}/openapi.json): every endpoint, enforced as written\n\n\
         ## Documentation\n\n"
    );
    for page in console.assets.pages.iter().filter(|page| !page.is_for_operators) {
        text.push_str(&format!("- [{}]({base}/docs/{}.md)\n", page.title, page.slug));
    }
    text
}

fn respond_with_listing(content: &StaticContent, headers: &HeaderMap) -> Response {
    ([(CACHE_CONTROL, "no-cache")], content.respond(headers)).into_response()
}

fn serve_file(console: &ConsoleState, path: &str, headers: &HeaderMap) -> Response {
    match (console.assets.file)(path) {
        Some(asset) => respond_with_asset(console, asset, content_type(path), headers),
        None => refuse_missing_page(),
    }
}

fn refuse_missing_page() -> Response {
    Refusal::not_found("Not found", "No such page. See / and /docs.").into_response()
}

/// File names do not change between releases, so browsers must revalidate by ETag.
fn respond_with_asset(
    console: &ConsoleState,
    asset: StaticAsset,
    content_type: &'static str,
    headers: &HeaderMap,
) -> Response {
    // Weak, because the same file may be sent compressed or not.
    let tag = format!("W/\"{}\"", asset.tag);
    let is_known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|it| it.to_str().ok());
    let is_known = is_known.flat_map(|it| it.split(',')).any(|it| it.trim() == tag);
    let head = [
        (ETAG, tag.as_str()),
        (CACHE_CONTROL, "no-cache"),
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, POLICY),
        (PERMISSIONS_POLICY.clone(), PERMISSIONS),
        (OPENER_POLICY.clone(), "same-origin"),
        (RESOURCE_POLICY.clone(), "same-origin"),
        (REFERRER_POLICY, "no-referrer"),
        (X_FRAME_OPTIONS, "DENY"),
    ];
    if is_known {
        return (StatusCode::NOT_MODIFIED, head).into_response();
    }
    (head, console.static_files.file(asset, content_type).respond(headers)).into_response()
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "json" => "application/json",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}
