use std::collections::BTreeSet;

use proptest::prelude::*;

use super::root::geometric_floor;
use super::*;

/// A small array, its two grids and the options, with room for both chunks.
#[derive(Debug, Clone)]
struct Setting {
    shape: Vec<u64>,
    source: Vec<u64>,
    target: Vec<u64>,
    itemsize_bytes: u64,
    options: PlannerOptions,
}

impl Setting {
    fn rechunking(&self) -> Rechunking<'_> {
        Rechunking {
            shape: &self.shape,
            source_chunks: &self.source,
            target_chunks: &self.target,
            itemsize_bytes: self.itemsize_bytes,
        }
    }

    fn bytes(&self, chunks: &[u64]) -> u64 {
        self.itemsize_bytes * chunks.iter().product::<u64>()
    }
}

fn setting() -> impl Strategy<Value = Setting> {
    let axis = (1_u64..120).prop_flat_map(|length| (Just(length), 1..=length, 1..=length));
    let axes = prop::collection::vec(axis, 1..4);
    let numbers = (1_u64..9, 1_u64..40, 1_u64..60);
    (axes, numbers, any::<(bool, bool)>()).prop_map(|(axes, numbers, consolidate)| {
        let (itemsize_bytes, memory_factor, min_divisor) = numbers;
        let column = |of: fn(&(u64, u64, u64)) -> u64| axes.iter().map(of).collect::<Vec<_>>();
        let (shape, source, target) =
            (column(|axis| axis.0), column(|axis| axis.1), column(|axis| axis.2));
        let bytes = |chunks: &[u64]| itemsize_bytes * chunks.iter().product::<u64>();
        let memory_bytes_max = bytes(&source).max(bytes(&target)) * memory_factor;
        let options = PlannerOptions {
            intermediate_bytes_min: memory_bytes_max / min_divisor,
            memory_bytes_max,
            consolidate_reads: consolidate.0,
            consolidate_writes: consolidate.1,
        };
        Setting { shape, source, target, itemsize_bytes, options }
    })
}

/// The chunk ordinals of one grid along one axis, element by element: the slow way to count.
fn pairs_by_walking(length: u64, a: u64, b: u64) -> u64 {
    let pairs: BTreeSet<_> = (0..length).map(|i| (i / a, i / b)).collect();
    pairs.len().try_into().unwrap()
}

/// Checks the demands of rechunker's own property tests on a plan.
fn check_invariants(setting: &Setting, plan: &MultistagePlan) -> Result<(), TestCaseError> {
    let Setting { shape, source, target, options, .. } = setting;
    let (first, last) = (&plan.stages[0], &plan.stages[plan.stages.len() - 1]);
    prop_assert_eq!(plan.stages.len(), plan.io_ops.len());
    for axis in 0..shape.len() {
        let write = last.write[axis];
        prop_assert!(write >= target[axis]);
        prop_assert!(write == shape[axis] || write % target[axis] == 0);
    }
    for (index, stage) in plan.stages.iter().enumerate() {
        for axis in 0..shape.len() {
            prop_assert_eq!(stage.intermediate[axis], stage.read[axis].min(stage.write[axis]));
        }
        for chunks in [&stage.read, &stage.intermediate, &stage.write] {
            prop_assert!(setting.bytes(chunks) <= options.memory_bytes_max);
        }
        if let Some(next) = plan.stages.get(index + 1) {
            prop_assert_eq!(&stage.write, &next.read);
        }
        if !plan.excessive_io_warning {
            prop_assert!(setting.bytes(&stage.intermediate) >= options.intermediate_bytes_min);
        }
    }
    prop_assert_eq!(first.read.len(), source.len());
    Ok(())
}

proptest! {
    #[test]
    fn plans_keep_rechunkers_invariants(setting in setting()) {
        let plan = multistage_rechunking_plan(&setting.rechunking(), &setting.options);
        let plan = plan.expect("both chunks fit and the minimum is below the maximum");
        check_invariants(&setting, &plan)?;
        for (read, source) in plan.stages[0].read.iter().zip(&setting.source) {
            prop_assert!(read >= source);
        }
    }

    #[test]
    fn regular_plans_keep_them_and_nest(setting in setting()) {
        let plan = cubed_regular_plan(&setting.rechunking(), &setting.options);
        let plan = plan.expect("both chunks fit and the minimum is below the maximum");
        check_invariants(&setting, &plan)?;
        // What rounding the reads is for: no intermediate chunk of the push has two writers.
        let first = &plan.stages[0];
        for axis in 0..setting.shape.len() {
            let (read, stored) = (first.read[axis], first.intermediate[axis]);
            prop_assert!(read == setting.shape[axis] || read % stored == 0);
        }
    }

    #[test]
    fn one_stage_is_the_multistage_plan_without_a_minimum(setting in setting()) {
        let options = PlannerOptions { intermediate_bytes_min: 0, ..setting.options };
        let single = rechunking_plan(&setting.rechunking(), &options).unwrap();
        let multi = multistage_rechunking_plan(&setting.rechunking(), &options).unwrap();
        prop_assert_eq!(multi.stages, vec![single]);
    }

    #[test]
    fn closed_form_counts_equal_walking(length in 0_u64..300, a in 1_u64..330, b in 1_u64..330) {
        let walked = pairs_by_walking(length, a, b);
        prop_assert_eq!(calculate_single_stage_io_ops(&[length], &[a], &[b]), Ok(walked));
        let pieces: Vec<u64> = split_chunksizes(length, a, b).unwrap().collect();
        prop_assert_eq!(pieces.iter().sum::<u64>(), length);
        prop_assert_eq!(u64::try_from(pieces.len()).unwrap(), walked);
        let walked = pairs_by_walking(length, a, a);
        prop_assert_eq!(chunk_count(&[length], &[a]), Ok(walked));
    }

    #[test]
    fn roots_are_exact(start in 1_u64..60_000, stop in 1_u64..60_000, steps in 1_u32..8, of in 0_u32..8) {
        let step = of.min(steps);
        let root = u128::from(geometric_floor(start, stop, step, steps));
        let bound = u128::from(start).pow(steps - step) * u128::from(stop).pow(step);
        prop_assert!(root.pow(steps) <= bound);
        prop_assert!((root + 1).pow(steps) > bound);
    }

    #[test]
    fn roots_of_perfect_powers_lose_nothing(base in 2_u64..600, steps in 2_u32..7) {
        let stop = base.pow(steps);
        for step in 0..=steps {
            prop_assert_eq!(geometric_floor(1, stop, step, steps), base.pow(step));
            prop_assert_eq!(geometric_floor(stop, stop, step, steps), stop);
        }
    }

    #[test]
    fn a_plan_is_never_read_less_than_its_design(setting in setting()) {
        let rechunking = setting.rechunking();
        let plan = multistage_rechunking_plan(&rechunking, &setting.options).unwrap();
        let designed = traffic_as_designed(&rechunking, &plan).unwrap();
        let executed = traffic_as_executed(&rechunking, &plan).unwrap();
        let source_chunks = chunk_count(&setting.shape, &setting.source).unwrap();
        prop_assert!(source_chunks <= designed.source_get);
        prop_assert!(designed.source_get <= executed.source_get);
        let BaselineTraffic { source_get, source_bytes, .. } = designed;
        prop_assert_eq!(BaselineTraffic { source_get, source_bytes, ..executed }, designed);
        prop_assert!(designed.intermediate_get >= designed.intermediate_put);
    }
}

#[test]
fn the_published_transpose_reads_ten_times_as_executed() {
    // Rechunker's tutorial array: 40 source chunks, 400 GETs measured on its Python executor.
    let rechunking = Rechunking {
        shape: &[8000, 8000],
        source_chunks: &[200, 8000],
        target_chunks: &[8000, 200],
        itemsize_bytes: 4,
    };
    let options = PlannerOptions {
        intermediate_bytes_min: 4,
        memory_bytes_max: 25_600_000,
        consolidate_reads: true,
        consolidate_writes: true,
    };
    let plan = multistage_rechunking_plan(&rechunking, &options).unwrap();
    let all = 8000 * 8000 * 4;
    let expected = BaselineTraffic {
        source_get: 40,
        source_bytes: all,
        intermediate_put: 100,
        intermediate_written_bytes: all,
        intermediate_get: 100,
        intermediate_read_bytes: all,
        target_put: 40,
        target_bytes: all,
    };
    assert_eq!(traffic_as_designed(&rechunking, &plan), Ok(expected));
    let executed = BaselineTraffic { source_get: 400, source_bytes: 10 * all, ..expected };
    assert_eq!(traffic_as_executed(&rechunking, &plan), Ok(executed));
    let naive = naive(&rechunking).unwrap();
    assert_eq!((naive.source_get, naive.intermediate_put, naive.target_put), (1600, 0, 40));
}

#[test]
fn stages_add_their_intermediates_and_pad_edge_chunks() {
    // 100 = 4 * 21 + 16: the edge chunks count in full.
    let rechunking = Rechunking {
        shape: &[100, 100],
        source_chunks: &[100, 1],
        target_chunks: &[1, 100],
        itemsize_bytes: 1,
    };
    let options = PlannerOptions {
        intermediate_bytes_min: 10,
        memory_bytes_max: 100,
        consolidate_reads: true,
        consolidate_writes: true,
    };
    let mut plan = multistage_rechunking_plan(&rechunking, &options).unwrap();
    assert_eq!(plan.stages.len(), 2);
    let traffic = traffic_as_designed(&rechunking, &plan).unwrap();
    assert_eq!((traffic.intermediate_put, traffic.intermediate_get), (2000, 2000));
    let three = calculate_stage_chunks(&[100, 1], &[1, 100], 3).unwrap();
    plan.stages[0].write.clone_from(&three[0]);
    plan.stages[0].intermediate = vec![21, 1];
    plan.stages.truncate(1);
    let traffic = traffic_as_designed(&rechunking, &plan).unwrap();
    assert_eq!(traffic.intermediate_written_bytes, 5 * 100 * 21);
}

#[test]
fn what_cannot_be_planned_is_refused() {
    let zero = consolidate_chunks(&[8], &[0], 4, 64, None);
    assert_eq!(zero, Err(BaselineError::Zero { what: "a chunk extent" }));
    let rank = calculate_single_stage_io_ops(&[8, 8], &[1, 8], &[8]);
    assert!(matches!(rank, Err(BaselineError::RankMismatch { expected: 2, found: 1, .. })));
    let many = chunk_count(&[u64::MAX, 2], &[1, 1]);
    assert!(matches!(many, Err(BaselineError::TooLarge { .. })));
    let beyond = consolidate_chunks(&[8], &[9], 1, 64, None);
    assert_eq!(beyond, Err(BaselineError::InvalidLimit { axis: 0, limit: 8 }));
}

#[test]
fn the_largest_axes_are_cut_exactly() {
    // 99 stages over the largest extent: numbers of thousands of bits, still monotone and exact.
    let cut = calculate_stage_chunks(&[1], &[u64::MAX], 99).unwrap();
    assert_eq!(cut.len(), 98);
    assert!(cut.windows(2).all(|pair| pair[0][0] <= pair[1][0]));
    let halves = calculate_stage_chunks(&[u64::MAX], &[1], 2).unwrap();
    assert_eq!(halves, vec![vec![u64::from(u32::MAX)]]);
}

#[test]
fn the_intermediate_is_read_by_writes_and_filled_by_reads() {
    // Grids that do not nest, walked by hand: 3 x 3 intermediate chunks of 4 x 4. Writes of 6 rows
    // meet 4 pieces of rows where reads of 4 meet 3; the other way round they meet 3.
    let rechunking = Rechunking {
        shape: &[12, 12],
        source_chunks: &[4, 6],
        target_chunks: &[6, 4],
        itemsize_bytes: 2,
    };
    let (wide, tall) = (vec![4, 12], vec![6, 4]);
    let counts = |read: &[u64], write: &[u64]| {
        let (read, write, intermediate) = (read.to_vec(), write.to_vec(), vec![4, 4]);
        let stages = vec![StageChunks { read, intermediate, write }];
        let plan = MultistagePlan { stages, io_ops: vec![12], excessive_io_warning: false };
        let designed = traffic_as_designed(&rechunking, &plan).unwrap();
        let executed = traffic_as_executed(&rechunking, &plan).unwrap();
        assert_eq!(designed.intermediate_read_bytes, designed.intermediate_get * 4 * 4 * 2);
        let intermediate = (designed.intermediate_put, designed.intermediate_get);
        (designed.source_get, executed.source_get, intermediate)
    };
    assert_eq!(counts(&wide, &tall), (6, 12, (9, 12)));
    assert_eq!(counts(&tall, &wide), (16, 12, (9, 9)));
}
