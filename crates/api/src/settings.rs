//! What the operator decided about the HTTP surface.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::HeaderName;
use domain::limits::tiers::Tiers;

use crate::hosts::Hosts;

#[derive(Clone)]
pub struct Settings {
    /// How clients reach the service, without a slash at the end.
    pub public_url: String,
    /// Sent as `x-service-host-name`, for telling nodes apart; not sent if it is empty.
    pub host_name: String,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub is_trusted_proxy: Arc<dyn Fn(IpAddr) -> bool + Send + Sync>,
    /// The header in which those proxies name the caller's country.
    pub country_header: Option<HeaderName>,
    pub tiers: Arc<Tiers>,
    /// Whether callers who fail too often are blocked for a while.
    pub blocks_failures: bool,
    /// Stands before the caller's own system prompts, unless the caller declines; may be empty.
    pub system_prompt: String,
    /// Where pictures, videos and files of callers may lie.
    pub hosts: Arc<Hosts>,
    /// The letters in the corner of pictures that are made here, if there are any.
    pub watermark: Option<String>,
}
