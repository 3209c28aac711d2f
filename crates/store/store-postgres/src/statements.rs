//! The statements of a batch: built without querying the database, so that all of them can be sent
//! at once.

use std::collections::BTreeSet;

use store::error::StoreError;
use tokio_postgres::types::ToSql;

use crate::changes::ChangeNotice;

pub(crate) type Value<'a> = Box<dyn ToSql + Sync + Send + 'a>;

/// The parameters of a statement, in order.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$(Box::new($value) as $crate::statements::Value<'_>),*]
    };
}
pub(crate) use values;

/// One statement, the group it belongs to, and the number of rows it must change.
pub(crate) struct SqlStatement<'a> {
    /// The group's position in its batch; None for statements that all groups share.
    pub(crate) group: Option<usize>,
    pub(crate) sql: &'static str,
    pub(crate) values: Vec<Value<'a>>,
    pub(crate) expected: Option<ExpectedRows>,
}

pub(crate) struct ExpectedRows {
    pub(crate) rows: u64,
    /// The error if the number of rows differs.
    pub(crate) otherwise: StoreError,
}

#[derive(Default)]
pub(crate) struct SqlStatements<'a> {
    pub(crate) statements: Vec<SqlStatement<'a>>,
    pub(crate) group: Option<usize>,
    /// The changes to notify other nodes of.
    pub(crate) changes: BTreeSet<ChangeNotice>,
}

impl<'a> SqlStatements<'a> {
    pub(crate) fn add(&mut self, sql: &'static str, values: Vec<Value<'a>>) {
        self.statements.push(SqlStatement { group: self.group, sql, values, expected: None });
    }

    /// Adds a statement that must change or return exactly one row.
    pub(crate) fn add_one(
        &mut self,
        sql: &'static str,
        values: Vec<Value<'a>>,
        otherwise: StoreError,
    ) {
        self.add_exactly(1, sql, values, otherwise);
    }

    pub(crate) fn add_exactly(
        &mut self,
        rows: u64,
        sql: &'static str,
        values: Vec<Value<'a>>,
        otherwise: StoreError,
    ) {
        let expected = Some(ExpectedRows { rows, otherwise });
        self.statements.push(SqlStatement { group: self.group, sql, values, expected });
    }

    pub(crate) fn notify(&mut self, change: ChangeNotice) {
        self.changes.insert(change);
    }
}
