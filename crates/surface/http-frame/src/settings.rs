//! The operator's settings for the HTTP API.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderName;
use domain::limits::tiers::RateLimitTiers;

use crate::hosts::HostPolicy;

#[derive(Clone)]
pub struct ApiSettings {
    /// URL of the service for clients, without a trailing slash.
    pub public_url: String,
    /// Sent as `x-service-host-name` to tell nodes apart; not sent if empty.
    pub host_name: String,
    /// True for proxies whose `X-Forwarded-For` is trusted.
    pub is_trusted_proxy: Arc<dyn Fn(IpAddr) -> bool + Send + Sync>,
    /// Header in which those proxies send the caller's country.
    pub country_header: Option<HeaderName>,
    pub tiers: Arc<RateLimitTiers>,
    /// True if callers with too many failures are blocked for a while.
    pub blocks_failures: bool,
    /// Put before the caller's system prompts, unless the caller declines it. May be empty.
    pub system_prompt: String,
    /// Hosts that callers' images, videos and files may be fetched from.
    pub hosts: Arc<HostPolicy>,
    /// Text in the corner of generated images, if any.
    pub watermark: Option<String>,
    pub brand: BrandSettings,
    /// True if wallets can pay.
    pub takes_wallets: bool,
    pub responses: StoredResponseSettings,
}

/// The operator's settings for stored and background responses.
#[derive(Debug, Clone)]
pub struct StoredResponseSettings {
    /// Time that responses and conversations are kept.
    pub keep: Duration,
    /// Maximum background responses that run in this process.
    pub runs_max: usize,
    /// The same for one account.
    pub runs_per_account_max: usize,
    /// Maximum unfinished background responses of one account.
    pub open_per_account_max: usize,
    /// Time after which a background response is ended.
    pub run_time_max: Duration,
}

/// The operator's name, logo and addresses, for the console.
#[derive(Debug, Clone)]
pub struct BrandSettings {
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

impl ApiSettings {
    /// The ways to get credit, as sentences for a refusal.
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

impl Default for StoredResponseSettings {
    fn default() -> StoredResponseSettings {
        StoredResponseSettings {
            keep: Duration::from_secs(30 * 24 * 60 * 60),
            runs_max: 32,
            runs_per_account_max: 4,
            open_per_account_max: 100,
            run_time_max: Duration::from_secs(60 * 60),
        }
    }
}

impl Default for BrandSettings {
    fn default() -> BrandSettings {
        BrandSettings {
            name: "Tollgate".to_owned(),
            logo: None,
            support_email: None,
            terms_url: None,
            privacy_url: None,
        }
    }
}
