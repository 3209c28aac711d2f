//! API keys as shown to their owner.

use credits::{KeyId, KeyTerms, LimitClass, LimitPeriod, OwnerId};
use domain::access::{KeyKind, ModelPrivacy};
use moment::Timestamp;
use money::{Currency, Nano};
use store::key::ApiKey;
use store::usage::{Days, KeyUsage};
use wire::api_keys as wire;

use crate::app::App;
use crate::refusal::Refusal;

const TRAILING_DAYS: i64 = 7;

/// Spending is shown with four decimals; the ledger keeps all digits.
const SHOWN_DECIMALS: u32 = 4;

/// The spending of an owner's keys over the last seven days, read once for all keys.
pub(super) struct RecentUsage {
    rows: Vec<KeyUsage>,
}

impl RecentUsage {
    pub(super) async fn read(app: &App, owner: OwnerId, now: Timestamp) -> Result<Self, Refusal> {
        let days = Days { first: now.day() - (TRAILING_DAYS - 1), last: now.day() };
        let rows = app.store.usage_by_key(owner, days).await.map_err(Refusal::unavailable)?;
        Ok(RecentUsage { rows })
    }

    fn spent(&self, key: KeyId, counts: impl Fn(Currency) -> bool) -> String {
        let rows = self.rows.iter().filter(|row| row.key == Some(key) && counts(row.currency));
        let total = rows.fold(Nano::ZERO, |sum, row| sum.saturating_add(row.amount));
        total.fixed(SHOWN_DECIMALS).to_string()
    }
}

pub(super) fn detail(app: &App, key: &ApiKey, usage: &RecentUsage) -> wire::ApiKey {
    let trailing = wire::TrailingUsage {
        usd: usage.spent(key.id, |it| matches!(it, Currency::Usd | Currency::Bundled)),
        vcu: usage.spent(key.id, |it| it == Currency::Vcu),
        diem: usage.spent(key.id, |it| it == Currency::Diem),
    };
    wire::ApiKey {
        api_key_type: kind(key.kind),
        consumption_limits: limits(key),
        limit_period: period(key.settings.limit_period),
        model_privacy: privacy(key.settings.model_privacy),
        created_at: key.created.to_string(),
        description: key.settings.description.clone(),
        expires_at: key.settings.expires.map(|expires| expires.to_string()),
        id: key.id.0.to_string(),
        last6_chars: key.last6.clone(),
        last_used_at: key.last_used.map(|used| used.to_string()),
        usage: wire::ApiKeyUsage { trailing_seven_days: trailing },
        current_period_usage: period_usage(app, &key.terms()),
    }
}

pub(super) fn kind(kind: KeyKind) -> wire::ApiKeyType {
    match kind {
        KeyKind::Inference => wire::ApiKeyType::Inference,
        // Operator keys are not listed by this endpoint.
        KeyKind::Admin | KeyKind::Operator => wire::ApiKeyType::Admin,
    }
}

pub(super) fn limits(key: &ApiKey) -> wire::ConsumptionLimits {
    wire::ConsumptionLimits {
        usd: key.settings.limit_usd.map(Nano::as_f64),
        diem: key.settings.limit_diem.map(Nano::as_f64),
        vcu: None,
    }
}

pub(super) fn period(period: LimitPeriod) -> wire::LimitPeriod {
    match period {
        LimitPeriod::Epoch => wire::LimitPeriod::Epoch,
        LimitPeriod::Month => wire::LimitPeriod::Month,
        LimitPeriod::Lifetime => wire::LimitPeriod::Lifetime,
    }
}

pub(super) fn privacy(privacy: ModelPrivacy) -> wire::ModelPrivacy {
    match privacy {
        ModelPrivacy::All => wire::ModelPrivacy::All,
        ModelPrivacy::PrivateText => wire::ModelPrivacy::PrivateText,
        ModelPrivacy::PrivateOnly => wire::ModelPrivacy::PrivateOnly,
    }
}

fn period_usage(app: &App, terms: &KeyTerms) -> Option<wire::PeriodUsage> {
    if terms.limit_usd.is_none() && terms.limit_diem.is_none() {
        return None;
    }
    let spent = |class| {
        let usage = app.ledger.key_usage(terms, class);
        usage.spent.fixed(SHOWN_DECIMALS).to_string()
    };
    Some(wire::PeriodUsage { usd: spent(LimitClass::Usd), diem: spent(LimitClass::Diem) })
}
