//! Owners, and the reset of their periods after the clock was wrong.

use ledger_core::OwnerId;
use moment::Timestamp;

use crate::error::StoreError;
use crate::owner::{Owner, OwnerKind};
use crate::sql::connection::RowResult;
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{SqlPosting, SqlRow, SqlText, SqlValue};

pub(crate) const COLUMNS: SqlText = SqlText::same(
    "owner.id, owner.kind, owner.name, owner.tier, owner.created_ms, owner.frozen_ms",
);

pub(crate) const READ: SqlText = shared_sql!("SELECT ", COLUMNS, " FROM owner WHERE id = $1");

/// An owner's own row comes before a link; a wallet cannot have both.
pub(crate) const FIND: SqlText = shared_sql!(
    "SELECT ",
    COLUMNS,
    " FROM owner WHERE kind = $1 AND name = $2 UNION ALL SELECT ",
    COLUMNS,
    " FROM wallet_link JOIN owner ON owner.id = wallet_link.owner \
     WHERE wallet_link.kind = $1 AND address = $2 LIMIT 1"
);

pub(crate) const LIST: SqlText = shared_sql!(
    "SELECT ",
    COLUMNS,
    " FROM owner WHERE kind = $1 AND $2 < name ORDER BY name LIMIT $3"
);

const ADD: SqlText =
    shared_sql!("INSERT INTO owner (id, kind, name, tier, created_ms) VALUES ($1, $2, $3, $4, $5)");

const SET_TIER: SqlText = shared_sql!("UPDATE owner SET tier = $2 WHERE id = $1");

const SET_FROZEN: SqlText = shared_sql!("UPDATE owner SET frozen_ms = $2 WHERE id = $1");

const RESET_DAY_SPENT: SqlText =
    shared_sql!("UPDATE key_spend SET day = $1, day_spent = 0 WHERE $1 < day");

const RESET_MONTH_SPENT: SqlText =
    shared_sql!("UPDATE key_spend SET month = $1, month_spent = 0 WHERE $1 < month");

const RESET_DAILY: SqlText = shared_sql!(
    "UPDATE allowance SET opened_period = $1 WHERE kind = 'DIEM_DAILY' AND $1 < opened_period"
);

const RESET_MONTHLY: SqlText = shared_sql!(
    "UPDATE allowance SET opened_period = $1 \
     WHERE kind = 'BUNDLED_MONTHLY' AND $1 < opened_period"
);

/// Changes made from the time of the reset on come after it.
const RESET_CHANGES: SqlText =
    shared_sql!("UPDATE allowance_change SET at_ms = $1 WHERE $1 < at_ms");

const NO_OWNER: StoreError = StoreError::Missing("there is no such owner");

pub(crate) fn add_owner<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    owner: &'a Owner,
) -> Result<(), P::Error> {
    posting.run(ADD, owner_values(owner))
}

pub(crate) fn owner_values(owner: &Owner) -> [SqlValue<'_>; 5] {
    sql_values![owner.id, owner.kind.name(), &owner.name, &owner.tier, owner.created]
}

pub(crate) fn set_tier<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    owner: OwnerId,
    tier: &'a str,
) -> Result<(), P::Error> {
    posting.run_one(SET_TIER, sql_values![owner, tier], NO_OWNER)
}

pub(crate) fn set_frozen<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    owner: OwnerId,
    since: Option<Timestamp>,
) -> Result<(), P::Error> {
    posting.run_one(SET_FROZEN, sql_values![owner, since], NO_OWNER)
}

/// See [`StoreWrite::MendTime`](crate::write::StoreWrite::MendTime).
pub(crate) fn reset_time<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    at: Timestamp,
) -> Result<(), P::Error> {
    posting.run(RESET_DAY_SPENT, sql_values![at.unix_day()])?;
    posting.run(RESET_MONTH_SPENT, sql_values![at.unix_month()])?;
    posting.run(RESET_DAILY, sql_values![at.unix_day()])?;
    posting.run(RESET_MONTHLY, sql_values![at.unix_month()])?;
    posting.run(RESET_CHANGES, sql_values![at])
}

/// Reads an owner from the columns from `first` on.
pub(crate) fn owner_from(row: &dyn SqlRow, first: usize) -> RowResult<Owner> {
    Ok(Owner {
        id: row.get(first)?,
        kind: row.parse(first + 1, OwnerKind::parse)?,
        name: row.get(first + 2)?,
        tier: row.get(first + 3)?,
        created: row.get(first + 4)?,
        frozen: row.get(first + 5)?,
    })
}

pub(crate) fn owner_at(row: &dyn SqlRow) -> RowResult<Owner> {
    owner_from(row, 0)
}
