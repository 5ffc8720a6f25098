-- The leaderboard of AgentBeats, in DuckDB: one row per complete submission, its shards added up.
-- `agent` is the role's name; `results` are the files of the leaderboard repository.
-- Every game that was asked for counts, whatever became of it. A submission is listed only if
-- all its shards are there and all games have a score: 134, the whole unseen split.
WITH submissions AS (
  SELECT ROW_NUMBER() OVER () AS submission, participants.agent AS agent, results AS shards
  FROM results
)
SELECT
  agent AS id,
  ROUND(100.0 * SUM(r.wins) / SUM(r.requested_games), 1) AS "Success %",
  ROUND(SUM(r.overall_score * r.num_games) / SUM(r.requested_games), 1) AS "Score",
  ROUND(SUM(r.avg_steps * r.num_games) / SUM(r.num_games), 1) AS "Steps",
  CAST(SUM(r.requested_games) AS INTEGER) AS "Games",
  CAST(SUM(r.errors) AS INTEGER) AS "Errors",
  STRING_AGG(DISTINCT r.data, ', ') AS "Data",
  STRING_AGG(DISTINCT r.protocol, ', ') AS "Protocol",
  CAST(MAX(r.max_steps) AS INTEGER) AS "Max steps"
FROM submissions
CROSS JOIN UNNEST(shards) AS t(r)
GROUP BY submission, agent
HAVING SUM(r.requested_games) = 134
  AND SUM(r.num_games) = 134
  AND COUNT(DISTINCT r.shard_index) = MAX(r.num_shards)
  AND COUNT(*) = MAX(r.num_shards)
ORDER BY "Success %" DESC, "Score" DESC;
