//! Gets and lists.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use futures::StreamExt;
use futures::stream;
use object_store::path::Path;
use object_store::{
    Attributes, Error, Extensions, GetOptions, GetResult, GetResultPayload, ListResult, ObjectMeta,
    Result,
};

use super::SimClient;
use super::disk::{Object, directories, is_below};
use super::faults::{Fate, generic, said, timed_out};

/// A stale list does not know what is younger, and knows what was deleted since.
const STALE_MS: u64 = 3000;

impl SimClient {
    pub(super) async fn get_object(
        &self,
        location: &Path,
        options: GetOptions,
    ) -> Result<GetResult> {
        let key = location.to_string();
        let what = if options.head { "head" } else { "get" };
        let call = self.begin(what, &key, |faults, dice, _| faults.of_read(dice, &key)).await;
        if call.fate == Fate::Refused {
            return self.refuse(call).await;
        }
        let Some(found) = self.store.lock().found(&key, options.head) else {
            return self.fail(call, Error::NotFound { path: key, source: said("simulated") }).await;
        };
        let meta = meta(&key, &found);
        let range = match options.range {
            Some(range) => range.as_range(meta.size),
            None => Ok(0..meta.size),
        };
        let range = match range {
            Ok(range) => range,
            Err(error) => return self.fail(call, generic(io::Error::other(error))).await,
        };
        let fate = call.fate;
        self.end(call).await;
        let at = |place: u64| usize::try_from(place).unwrap_or(usize::MAX);
        let body = found.bytes.slice(at(range.start)..at(range.end));
        let parts = if options.head { Vec::new() } else { self.parts(&body, fate) };
        Ok(GetResult {
            payload: GetResultPayload::Stream(stream::iter(parts).boxed()),
            meta,
            range,
            attributes: Attributes::default(),
            extensions: Extensions::default(),
        })
    }

    /// A body as it arrives.
    fn parts(&self, body: &Bytes, fate: Fate) -> Vec<Result<Bytes>> {
        let mut state = self.store.lock();
        let length = u64::try_from(body.len()).unwrap_or(u64::MAX);
        let place = usize::try_from(state.dice.below(length)).unwrap_or(0);
        match fate {
            Fate::Short if state.dice.percent(50) => vec![Ok(body.slice(..place))],
            Fate::Short => vec![Ok(body.slice(..place)), Err(timed_out())],
            Fate::Flipped if !body.is_empty() => {
                let mut bytes = body.to_vec();
                bytes[place] ^= 1 << state.dice.below(8);
                vec![Ok(bytes.into())]
            }
            _ => vec![Ok(body.slice(..place)), Ok(body.slice(place..))],
        }
    }

    pub(super) async fn list_objects(&self, prefix: &str) -> Result<Vec<ObjectMeta>> {
        let objects = self.listed(prefix).await?;
        Ok(objects.iter().map(|(key, object)| meta(key, object)).collect())
    }

    pub(super) async fn list_directory(&self, prefix: &str) -> Result<ListResult> {
        let objects = self.listed(prefix).await?;
        let common_prefixes =
            directories(objects.keys(), prefix).into_iter().map(Path::from).collect();
        let start = if prefix.is_empty() { 0 } else { prefix.len() + 1 };
        let here = objects.iter().filter(|(key, _)| !key[start..].contains('/'));
        let objects = here.map(|(key, object)| meta(key, object)).collect();
        Ok(ListResult { common_prefixes, objects, extensions: Extensions::default() })
    }

    async fn listed(&self, prefix: &str) -> Result<BTreeMap<String, Object>> {
        let call = self.begin("list", prefix, |faults, dice, _| faults.of_list(dice)).await;
        if call.fate == Fate::Refused {
            return self.refuse(call).await;
        }
        let listed = {
            let mut state = self.store.lock();
            let since_ms = state.clock_ms().saturating_sub(STALE_MS);
            let is_known =
                |object: &Object| call.fate != Fate::Stale || object.modified_ms < since_ms;
            let gone = state.deleted.iter().filter(|_| call.fate == Fate::Stale);
            let all = state.objects.iter().filter(|(_, object)| is_known(object)).chain(gone);
            all.filter(|(key, _)| is_below(key, prefix))
                .map(|(key, object)| (key.clone(), object.clone()))
                .collect()
        };
        self.end(call).await;
        Ok(listed)
    }
}

fn meta(key: &str, object: &Object) -> ObjectMeta {
    ObjectMeta {
        location: Path::from(key),
        last_modified: (UNIX_EPOCH + Duration::from_millis(object.modified_ms)).into(),
        size: u64::try_from(object.bytes.len()).unwrap_or(u64::MAX),
        e_tag: Some(object.e_tag.to_string()),
        version: None,
    }
}
