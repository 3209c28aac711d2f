//! Signed links to a job's result, which need no credential and are valid for a day.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use moment::Timestamp;
use sha2::Sha256;
use store::job::JobId;
use uuid::Uuid;

pub const LINK_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The signing key of links. It must be used for nothing else.
#[derive(Clone)]
pub struct LinkSecret(pub [u8; 32]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LinkFault {
    #[error("the link was not made here")]
    Forged,
    #[error("the link has expired")]
    Expired,
}

impl LinkSecret {
    /// The path and query of a link, relative to the API's base URL.
    pub fn sign_link(&self, job: JobId, now: Timestamp) -> String {
        let expires_s = now.plus(LINK_LIFETIME).seconds();
        let signature = self.compute_mac(job, expires_s).finalize().into_bytes();
        let signature = hex::encode(signature);
        format!("/media/{}?expires={expires_s}&signature={signature}", job.0)
    }

    /// The job of a valid link.
    pub fn open(
        &self,
        job: Uuid,
        expires_s: i64,
        signature: &str,
        now: Timestamp,
    ) -> Result<JobId, LinkFault> {
        let job = JobId(job);
        let signature = hex::decode(signature).map_err(|_| LinkFault::Forged)?;
        let is_ours = self.compute_mac(job, expires_s).verify_slice(&signature).is_ok();
        if !is_ours {
            return Err(LinkFault::Forged);
        }
        if expires_s <= now.seconds() {
            return Err(LinkFault::Expired);
        }
        Ok(job)
    }

    fn compute_mac(&self, job: JobId, expires_s: i64) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("any length of key will do");
        mac.update(job.0.as_bytes());
        mac.update(&expires_s.to_le_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(link: &str) -> (i64, String) {
        let query = link.split_once("?expires=").unwrap().1;
        let (expires, signature) = query.split_once("&signature=").unwrap();
        (expires.parse().unwrap(), signature.to_owned())
    }

    #[test]
    fn a_link_opens_its_own_job_for_a_day() {
        let (secret, now) = (LinkSecret([7; 32]), Timestamp::from_ms(5_000));
        let job = JobId(Uuid::from_u128(1));
        let (expires, signature) = parts(&secret.sign_link(job, now));
        assert_eq!(secret.open(job.0, expires, &signature, now), Ok(job));
        let late = now.plus(LINK_LIFETIME);
        assert_eq!(secret.open(job.0, expires, &signature, late), Err(LinkFault::Expired));
    }

    #[test]
    fn a_link_opens_nothing_else() {
        let (secret, now) = (LinkSecret([7; 32]), Timestamp::from_ms(5_000));
        let job = JobId(Uuid::from_u128(1));
        let (expires, signature) = parts(&secret.sign_link(job, now));
        let other = Uuid::from_u128(2);
        assert_eq!(secret.open(other, expires, &signature, now), Err(LinkFault::Forged));
        assert_eq!(secret.open(job.0, expires + 1, &signature, now), Err(LinkFault::Forged));
        for wrong in ["", "zz", &signature[1..], &"+f".repeat(32), &"é".repeat(32)] {
            assert_eq!(secret.open(job.0, expires, wrong, now), Err(LinkFault::Forged), "{wrong}");
        }
    }
}
