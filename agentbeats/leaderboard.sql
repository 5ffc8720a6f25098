-- The leaderboard of AgentBeats, in DuckDB: one row an agent, its shards added up.
-- `agent` is the role's name; `results` are the files of the leaderboard repository.
SELECT
  results.participants.agent AS id,
  ROUND(100.0 * SUM(r.wins) / NULLIF(SUM(r.num_games), 0), 1) AS "Success %",
  ROUND(SUM(r.overall_score * r.num_games) / NULLIF(SUM(r.num_games), 0), 1) AS "Score",
  ROUND(SUM(r.avg_steps * r.num_games) / NULLIF(SUM(r.num_games), 0), 1) AS "Steps",
  SUM(r.num_games) AS "Games",
  SUM(r.requested_games) AS "Requested",
  SUM(r.errors) AS "Errors"
FROM results
CROSS JOIN UNNEST(results.results) AS t(r)
GROUP BY ALL
HAVING SUM(r.requested_games) > 0
ORDER BY SUM(r.wins) / SUM(r.requested_games) DESC, "Score" DESC;
