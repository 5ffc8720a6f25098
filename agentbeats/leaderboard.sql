-- The leaderboard of AgentBeats, in DuckDB: one row per complete submission, its shards added up.
-- `agent` is the role's name; `results` are the files of the leaderboard repository.
-- Every game that was asked for counts, whatever became of it. A submission is listed only if
-- all its shards are there and all games have a score: 134, the whole unseen split. Only equal
-- things are ranked: the real data, protocol unseen-134 and its 50 steps, in every shard.
-- The 95% interval is that of AgentQuest's reports: Student's, with three quarters of a game
-- added at 0 and at 1 (135.5 games; 1.977759 is the quantile of 134.5 degrees of freedom).
WITH submissions AS (
  SELECT ROW_NUMBER() OVER () AS submission, participants.agent AS agent, results AS shards
  FROM results
), sums AS (
  SELECT
    agent,
    SUM(r.wins) / SUM(r.requested_games) AS success,
    (SUM(r.wins) + 0.75) / 135.5 AS centre,
    ROUND(SUM(r.overall_score * r.num_games) / SUM(r.requested_games), 1) AS score,
    ROUND(SUM(r.avg_steps * r.num_games) / SUM(r.num_games), 1) AS steps,
    CAST(SUM(r.requested_games) AS INTEGER) AS games,
    CAST(SUM(r.errors) AS INTEGER) AS errors,
    ANY_VALUE(r.data) AS data,
    ANY_VALUE(r.protocol) AS protocol,
    CAST(MAX(r.max_steps) AS INTEGER) AS max_steps
  FROM submissions
  CROSS JOIN UNNEST(shards) AS t(r)
  GROUP BY submission, agent
  HAVING SUM(r.requested_games) = 134
    AND SUM(r.num_games) = 134
    AND COUNT(DISTINCT r.shard_index) = MAX(r.num_shards)
    AND COUNT(*) = MAX(r.num_shards)
    AND COALESCE(BOOL_AND(r.data = 'real' AND r.protocol = 'unseen-134' AND r.max_steps = 50), FALSE)
), intervals AS (
  SELECT *, 1.977759 * SQRT(centre * (1 - centre) / 134.5) AS reach FROM sums
)
SELECT
  agent AS id,
  ROUND(100.0 * success, 1) AS "Success %",
  ROUND(100.0 * LEAST(success, GREATEST(0, centre - reach)), 1) AS "From %",
  ROUND(100.0 * GREATEST(success, LEAST(1, centre + reach)), 1) AS "To %",
  score AS "Score",
  steps AS "Steps",
  games AS "Games",
  errors AS "Errors",
  data AS "Data",
  protocol AS "Protocol",
  max_steps AS "Max steps"
FROM intervals
ORDER BY success DESC, score DESC;
