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
    pub brand: Brand,
    /// Whether wallets can pay here.
    pub takes_wallets: bool,
}

/// The operator's own name, logo and addresses, on the pages that callers see.
#[derive(Debug, Clone)]
pub struct Brand {
    pub name: String,
    pub logo: Option<BrandLogo>,
    pub support_email: Option<String>,
    pub terms_url: Option<String>,
    pub privacy_url: Option<String>,
}

#[derive(Debug, Clone)]
pub struct BrandLogo {
    pub bytes: Arc<[u8]>,
    pub content_type: &'static str,
}

impl Settings {
    /// The ways to get credit for an account here, in sentences for a refusal.
    pub fn ways_to_pay(&self) -> String {
        let operator = match &self.brand.support_email {
            Some(address) => format!("the operator at {address}"),
            None => "the operator of this service".to_owned(),
        };
        if !self.takes_wallets {
            return format!("Ask {operator} for credit.");
        }
        format!(
            "Visit {}/#/top-up to add credits in USDC, with a wallet that is linked to the \
             account, or ask {operator}.",
            self.public_url
        )
    }
}

impl Default for Brand {
    fn default() -> Brand {
        Brand {
            name: "Tollgate".to_owned(),
            logo: None,
            support_email: None,
            terms_url: None,
            privacy_url: None,
        }
    }
}
