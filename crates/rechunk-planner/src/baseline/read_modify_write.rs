//! An export that changes target objects in place: of what it would move, and cost.
//!
//! Programs that write a box for each source chunk, and know nothing of the grid below, read each
//! object that the box covers in part, change it, and write it again. In large shards that is a
//! write for each pair of a source chunk and a shard, and a store that keeps versions keeps all of
//! them.

use rechunk_plan::count::{cells, pairs, product};
use rechunk_plan::{Estimate, PlanRequest, Price, RoleEstimate, price_traffic};

/// Counts and prices an export that writes each source chunk by itself, and reads each object of
/// the target that it changes in part. Bytes are expected ones of whole objects.
///
/// Source chunks of different lengths count as so many equal ones.
///
/// ```
/// use rechunk_plan::{PlanRequest, Side};
/// use rechunk_planner::baseline::read_modify_write;
///
/// // Ten images, one object that holds all: nine versions of it are thrown away.
/// let sides = (Side::raw(&[1, 64, 64], 2), Side::raw(&[10, 64, 64], 2));
/// let found = read_modify_write(&PlanRequest::local(&[10, 64, 64], 2, sides, 1 << 30));
/// assert_eq!((found.target.get_requests, found.target.put_requests), (10, 10));
/// assert_eq!(found.target.written_bytes, 10 * 10 * 64 * 64 * 2);
/// ```
pub fn read_modify_write(request: &PlanRequest) -> Estimate {
    let (shape, source, target) = (&request.shape, &request.source, &request.target);
    let (chunk, object) = (&source.chunk_shape, target.commit_shape());
    let (chunks, objects) = (cells(shape, chunk), cells(shape, object));
    let writes = pairs(shape, chunk, object);
    // An object in one source chunk is written once, without a look.
    let whole = product((0..shape.len()).map(|axis| uncut(shape[axis], chunk[axis], object[axis])));
    let reads = writes.saturating_sub(whole);
    // The first time it is not there.
    let found = reads.saturating_sub(objects.saturating_sub(whole));
    let object_bytes = target.encoded_bytes_expected.saturating_mul(target.shard_chunks());
    let decoded_bytes = product(object.iter().copied()).saturating_mul(request.item_bytes);
    let array_bytes = product(shape.iter().copied()).saturating_mul(request.item_bytes);
    let mut estimate = Estimate {
        source: RoleEstimate {
            get_requests: chunks,
            read_bytes: chunks.saturating_mul(source.encoded_bytes_expected),
            decoded_read_bytes: array_bytes,
            objects: chunks,
            ..RoleEstimate::default()
        },
        target: RoleEstimate {
            get_requests: reads,
            put_requests: writes,
            read_bytes: found.saturating_mul(object_bytes),
            written_bytes: writes.saturating_mul(object_bytes),
            decoded_read_bytes: found.saturating_mul(decoded_bytes),
            decoded_written_bytes: writes.saturating_mul(decoded_bytes),
            objects,
            ..RoleEstimate::default()
        },
        ..Estimate::default()
    };
    let (seconds, mut price) = price_traffic(request, &estimate);
    let replaced_bytes = writes.saturating_sub(objects).saturating_mul(object_bytes);
    price.add(&Price::of_deleted(replaced_bytes, &request.profile.target));
    (estimate.seconds, estimate.usd, estimate.price) = (seconds, price.total_usd(), price);
    estimate
}

/// Objects along an axis that lie in one source chunk.
fn uncut(extent: u64, chunk: u64, object: u64) -> u64 {
    let (chunk, object) = (chunk.max(1), object.max(1));
    let objects = extent.div_ceil(object);
    if chunk >= object {
        // Cuts lie so far apart that each is in an object of its own.
        let cut = rechunk_plan::count::pairs_along(extent, chunk, object) - objects;
        return objects - cut;
    }
    // Only the last one may be small enough.
    let Some(start) = objects.checked_sub(1).map(|last| last * object) else { return 0 };
    u64::from(start / chunk == (extent - 1) / chunk)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rechunk_plan::{Profile, Side, StoreProfile};

    use super::*;

    proptest! {
        #[test]
        fn uncut_counts_objects(extent in 0_u64..60, chunk in 1_u64..70, object in 1_u64..70) {
            let is_uncut = |&number: &u64| {
                let end = (number * object + object).min(extent);
                number * object / chunk == (end - 1) / chunk
            };
            let found = (0..extent.div_ceil(object)).filter(is_uncut).count();
            prop_assert_eq!(uncut(extent, chunk, object), found as u64);
        }
    }

    #[test]
    fn versions_and_replication_have_their_price() {
        let sides = (Side::raw(&[1, 64, 64], 2), Side::raw(&[10, 64, 64], 2));
        let mut request = PlanRequest::local(&[10, 64, 64], 2, sides, 1 << 30);
        let mut store = StoreProfile::built_in("s3").unwrap();
        (store.write_usd_per_gib, store.retention_usd_per_gib) = (0.02, 0.01);
        request.profile = Profile::uniform(&store);
        let found = read_modify_write(&request);
        let object_gib = f64::from(10 * 64 * 64 * 2) / f64::from(1 << 30);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(found.price.write_usd, 10.0 * object_gib * 0.02), "{:?}", found.price);
        assert!(near(found.price.retention_usd, 9.0 * object_gib * 0.01), "{:?}", found.price);
        assert!(near(found.price.total_usd(), found.usd));
        // Nothing is replaced where objects lie in chunks.
        std::mem::swap(&mut request.source, &mut request.target);
        let found = read_modify_write(&request);
        assert_eq!((found.target.get_requests, found.target.put_requests), (0, 10));
        assert!(found.price.retention_usd <= 0.0);
    }
}
