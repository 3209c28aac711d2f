//! API keys as shown to their owner.

use domain::access::{KeyKind, ModelPrivacy};
use http_frame::app::AppState;
use http_frame::refusal::Refusal;
use ledger_core::{KeyId, KeyTerms, LimitClass, LimitPeriod, OwnerId};
use moment::Timestamp;
use money::{BalanceCurrency, Nano};
use store::key::ApiKey;
use store::usage::{DayRange, KeyUsage};
use wire::api_keys as wire;

const TRAILING_DAYS: i64 = 7;

/// Spending is shown with four decimals; the ledger keeps all digits.
const SHOWN_DECIMALS: u32 = 4;

/// The spending of an owner's keys over the last seven days, read once for all keys.
pub(super) struct RecentUsage {
    rows: Vec<KeyUsage>,
}

impl RecentUsage {
    pub(super) async fn read(
        app: &AppState,
        owner: OwnerId,
        now: Timestamp,
    ) -> Result<Self, Refusal> {
        let days = DayRange { first: now.unix_day() - (TRAILING_DAYS - 1), last: now.unix_day() };
        let rows = app.store.usage_by_key(owner, days).await.map_err(Refusal::unavailable)?;
        Ok(RecentUsage { rows })
    }

    fn format_spending(&self, key: KeyId, counts: impl Fn(BalanceCurrency) -> bool) -> String {
        let rows = self.rows.iter().filter(|row| row.key == Some(key) && counts(row.currency));
        let total = rows.fold(Nano::ZERO, |sum, row| sum.saturating_add(row.amount));
        total.to_fixed(SHOWN_DECIMALS).to_string()
    }
}

pub(super) fn describe_key(app: &AppState, key: &ApiKey, usage: &RecentUsage) -> wire::ApiKey {
    let trailing = wire::TrailingUsage {
        usd: usage.format_spending(key.id, |it| {
            matches!(it, BalanceCurrency::Usd | BalanceCurrency::Bundled)
        }),
        vcu: usage.format_spending(key.id, |it| it == BalanceCurrency::Vcu),
        diem: usage.format_spending(key.id, |it| it == BalanceCurrency::Diem),
    };
    wire::ApiKey {
        api_key_type: to_wire_key_type(key.kind),
        consumption_limits: to_wire_limits(key),
        limit_period: to_wire_period(key.settings.limit_period),
        model_privacy: to_wire_privacy(key.settings.model_privacy),
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

pub(super) fn to_wire_key_type(kind: KeyKind) -> wire::ApiKeyType {
    match kind {
        KeyKind::Inference => wire::ApiKeyType::Inference,
        // Operator keys are not listed by this endpoint.
        KeyKind::Admin | KeyKind::Operator => wire::ApiKeyType::Admin,
    }
}

pub(super) fn to_wire_limits(key: &ApiKey) -> wire::ConsumptionLimits {
    wire::ConsumptionLimits {
        usd: key.settings.limit_usd.map(Nano::as_f64),
        diem: key.settings.limit_diem.map(Nano::as_f64),
        vcu: None,
    }
}

pub(super) fn to_wire_period(period: LimitPeriod) -> wire::LimitPeriod {
    match period {
        LimitPeriod::Epoch => wire::LimitPeriod::Epoch,
        LimitPeriod::Month => wire::LimitPeriod::Month,
        LimitPeriod::Lifetime => wire::LimitPeriod::Lifetime,
    }
}

pub(super) fn to_wire_privacy(privacy: ModelPrivacy) -> wire::ModelPrivacy {
    match privacy {
        ModelPrivacy::All => wire::ModelPrivacy::All,
        ModelPrivacy::PrivateText => wire::ModelPrivacy::PrivateText,
        ModelPrivacy::PrivateOnly => wire::ModelPrivacy::PrivateOnly,
    }
}

fn period_usage(app: &AppState, terms: &KeyTerms) -> Option<wire::PeriodUsage> {
    if terms.limit_usd.is_none() && terms.limit_diem.is_none() {
        return None;
    }
    let spent = |class| {
        let usage = app.ledger.key_usage(terms, class);
        usage.spent.to_fixed(SHOWN_DECIMALS).to_string()
    };
    Some(wire::PeriodUsage { usd: spent(LimitClass::Usd), diem: spent(LimitClass::Diem) })
}
