//! The changes that other nodes are notified of.

use store::job::{JobStep, JobWrite};
use store::model_response::ResponseWrite;
use store::write::{DialogueWrite, StoreWrite};

use crate::changes::ChangeNotice;

/// The change that a write makes to what other nodes cache or wait for.
pub(crate) fn find_notice(write: &StoreWrite) -> Option<ChangeNotice> {
    match write {
        StoreWrite::AddOwner(owner) => Some(ChangeNotice::Owner(owner.id)),
        StoreWrite::SetTier { owner, .. }
        | StoreWrite::Freeze { owner, .. }
        | StoreWrite::UnlinkWallet { owner, .. } => Some(ChangeNotice::Owner(*owner)),
        StoreWrite::LinkWallet(link) => Some(ChangeNotice::Owner(link.owner)),
        StoreWrite::AddKey { key, .. } => Some(ChangeNotice::Key(key.id)),
        StoreWrite::ChangeKey { key, .. }
        | StoreWrite::RevokeKey { key, .. }
        | StoreWrite::MoveKey { key, .. } => Some(ChangeNotice::Key(*key)),
        StoreWrite::AddSetting { .. } | StoreWrite::PutSetting { .. } => {
            Some(ChangeNotice::Settings)
        }
        StoreWrite::Job(write) => makes_job_due(write).then_some(ChangeNotice::Jobs),
        StoreWrite::Dialogue(write) => match &**write {
            DialogueWrite::Response(write) => {
                makes_response_due(write).then_some(ChangeNotice::Jobs)
            }
            DialogueWrite::Conversation(_) => None,
        },
        _ => None,
    }
}

fn makes_job_due(write: &JobWrite) -> bool {
    match write {
        JobWrite::Add(_) | JobWrite::WantCancel(_) | JobWrite::BreakLeases => true,
        JobWrite::Step { step, .. } => matches!(step, JobStep::PutBack { .. }),
        JobWrite::RevokeLink(_) | JobWrite::DropEnded { .. } => false,
    }
}

fn makes_response_due(write: &ResponseWrite) -> bool {
    match write {
        ResponseWrite::Add(response) => response.record.state.is_open(),
        ResponseWrite::WantCancel(_) => true,
        _ => false,
    }
}
