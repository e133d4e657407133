PRAGMA application_id = 1465273925;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE windvane_checkpoints (
	study_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	PRIMARY KEY (study_id, seq), 
	FOREIGN KEY(study_id) REFERENCES windvane_studies (id) ON DELETE CASCADE
);
INSERT INTO "windvane_checkpoints" VALUES(1,0,'{"optimizer":{"windvane":3,"space":{"type":"Box","bounds":[[0.0,1.0]]},"composition":{"type":"Composition","name":"r-gp-ucb","model":{"type":"Model","kernel":{"type":"RBF","lengthscale":[0.2],"variance":1.0},"noise":{"type":"Noise","variance":0.01,"forgetting":1.0},"temporal":{"type":"Static","share":1.0},"scaling":{"type":"Scaling","offset":0.0,"scale":1.0}},"acquisition":{"type":"UCB","schedule":{"type":"LogBeta","c1":0.4,"c2":4.0,"since_reset":false}},"trigger":{"type":"Periodic","period":3},"window":{"type":"ResetWindow","low":1,"high":null},"on_trigger":{"type":"Empty"},"on_forced":{"type":"LastPoint"},"limit":{"type":"Full"},"learning":{"type":"Given","search":{"type":"Search","lengthscale":[0.05,2.0],"noise":[0.0001,0.25],"variance":[0.05,20.0],"rate":[0.0001,0.5],"lengthscale_prior":{"type":"LogNormal","median":0.3,"sigma":0.7},"noise_prior":{"type":"LogNormal","median":0.01,"sigma":1.5},"variance_prior":{"type":"LogNormal","median":1.0,"sigma":1.0},"rate_prior":null,"learn":["lengthscale","noise"],"starts":4,"choices":[],"choice":[0.2,4.0],"choice_prior":{"type":"LogNormal","median":2.0,"sigma":0.7},"odds":[0.01,100.0],"odds_prior":{"type":"LogNormal","median":1.0,"sigma":1.5},"drifting_noise_prior":null}},"rescale":false},"goal":"maximize","seed":3,"step":1,"elapsed":1,"age":0,"last_time":null,"origin":0.0,"last_point":null,"memory":[],"surrogate":{"model":{"type":"Model","kernel":{"type":"RBF","lengthscale":[0.2],"variance":1.0},"noise":{"type":"Noise","variance":0.01,"forgetting":1.0},"temporal":{"type":"Static","share":1.0},"scaling":{"type":"Scaling","offset":0.0,"scale":1.0}},"base":[],"journal":[],"allowed":1e-09}},"trials":0,"pending":[]}');
INSERT INTO "windvane_checkpoints" VALUES(1,11,'{"optimizer":{"windvane":3,"space":{"type":"Box","bounds":[[0.0,1.0]]},"composition":{"type":"Composition","name":"r-gp-ucb","model":{"type":"Model","kernel":{"type":"RBF","lengthscale":[0.2],"variance":1.0},"noise":{"type":"Noise","variance":0.01,"forgetting":1.0},"temporal":{"type":"Static","share":1.0},"scaling":{"type":"Scaling","offset":0.0,"scale":1.0}},"acquisition":{"type":"UCB","schedule":{"type":"LogBeta","c1":0.4,"c2":4.0,"since_reset":false}},"trigger":{"type":"Periodic","period":3},"window":{"type":"ResetWindow","low":1,"high":null},"on_trigger":{"type":"Empty"},"on_forced":{"type":"LastPoint"},"limit":{"type":"Full"},"learning":{"type":"Given","search":{"type":"Search","lengthscale":[0.05,2.0],"noise":[0.0001,0.25],"variance":[0.05,20.0],"rate":[0.0001,0.5],"lengthscale_prior":{"type":"LogNormal","median":0.3,"sigma":0.7},"noise_prior":{"type":"LogNormal","median":0.01,"sigma":1.5},"variance_prior":{"type":"LogNormal","median":1.0,"sigma":1.0},"rate_prior":null,"learn":["lengthscale","noise"],"starts":4,"choices":[],"choice":[0.2,4.0],"choice_prior":{"type":"LogNormal","median":2.0,"sigma":0.7},"odds":[0.01,100.0],"odds_prior":{"type":"LogNormal","median":1.0,"sigma":1.5},"drifting_noise_prior":null}},"rescale":false},"goal":"maximize","seed":3,"step":6,"elapsed":3,"age":5,"last_time":5.0,"origin":0.0,"last_point":[0.5783810069707276],"memory":[],"surrogate":{"model":{"type":"Model","kernel":{"type":"RBF","lengthscale":[0.2],"variance":1.0},"noise":{"type":"Noise","variance":0.01,"forgetting":1.0},"temporal":{"type":"Static","share":1.0},"scaling":{"type":"Scaling","offset":0.0,"scale":1.0}},"base":[],"journal":[[[0.5729050004334139],0.0,1.0,1],[[0.0],0.5,2.0,2],1,2,[[0.36503055456932665],0.75,4.0,4],[[0.5783810069707276],1.0,5.0,5]],"allowed":1e-09}},"trials":5,"pending":[]}');
CREATE TABLE windvane_deliveries (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	webhook_id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	status VARCHAR(8) NOT NULL, 
	attempts INTEGER NOT NULL, 
	not_before DOUBLE NOT NULL, 
	error TEXT NOT NULL, 
	FOREIGN KEY(webhook_id) REFERENCES windvane_webhooks (id) ON DELETE CASCADE, 
	FOREIGN KEY(study_id) REFERENCES windvane_studies (id) ON DELETE CASCADE
);
INSERT INTO "windvane_deliveries" VALUES(1,1,1,6,'due',0,1.79497275021268916134e+09,'');
CREATE TABLE windvane_events (
	study_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	at DOUBLE NOT NULL, 
	trial INTEGER, 
	x TEXT, 
	y DOUBLE, 
	time DOUBLE, 
	expires DOUBLE, 
	step INTEGER, 
	reset BOOLEAN NOT NULL, 
	reason TEXT NOT NULL, 
	event TEXT, 
	metadata TEXT NOT NULL, 
	"key" VARCHAR(200), 
	PRIMARY KEY (study_id, seq), 
	FOREIGN KEY(study_id) REFERENCES windvane_studies (id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "windvane_events" VALUES(1,1,'asked',1.79497275019069814686e+09,1,'[0.5729050004334139]',NULL,NULL,1.79505915019069814679e+09,NULL,0,'',NULL,'{"n":0}',NULL);
INSERT INTO "windvane_events" VALUES(1,2,'told',1.79497275019674491875e+09,1,'[0.5729050004334139]',0.0,NULL,NULL,1,0,'','{"time":1.0,"mean":0.0,"std":1.0,"noise_variance":0.01,"log_density":-0.9239136986312567,"statistic":1.0,"threshold":2.0,"monitored":true,"elapsed":1,"kept":0,"size":1,"set_aside":false,"outlier":null,"beliefs":{},"change":null,"cause":"","told_variance":null,"values":[]}','{}','k0');
INSERT INTO "windvane_events" VALUES(1,3,'asked',1.79497275020073938367e+09,2,'[0.0]',NULL,NULL,1.79505915020073938373e+09,NULL,0,'',NULL,'{"n":1}',NULL);
INSERT INTO "windvane_events" VALUES(1,4,'told',1.79497275020471239092e+09,2,'[0.0]',0.25,NULL,NULL,2,0,'','{"time":2.0,"mean":0.0,"std":0.9998647699806187,"noise_variance":0.01,"log_density":-0.9547286797074156,"statistic":2.0,"threshold":2.0,"monitored":true,"elapsed":2,"kept":0,"size":2,"set_aside":false,"outlier":null,"beliefs":{},"change":null,"cause":"","told_variance":null,"values":[]}','{}','k1');
INSERT INTO "windvane_events" VALUES(1,5,'asked',1.79497275020871329309e+09,3,'[1.0]',NULL,NULL,1.79505915020871329302e+09,NULL,0,'',NULL,'{"n":2}',NULL);
INSERT INTO "windvane_events" VALUES(1,6,'told',1.79497275021268916134e+09,3,'[1.0]',0.5,NULL,NULL,3,1,'period over: 3 steps after the last reset or start, every 3','{"time":3.0,"mean":-0.0004134247577524051,"std":0.9948072123093081,"noise_variance":0.01,"log_density":-1.0440109102763988,"statistic":3.0,"threshold":2.0,"monitored":true,"elapsed":3,"kept":0,"size":0,"set_aside":false,"outlier":null,"beliefs":{},"change":null,"cause":"triggered","told_variance":null,"values":[]}','{}','k2');
INSERT INTO "windvane_events" VALUES(1,7,'asked',1.79497275021674633022e+09,4,'[0.36503055456932665]',NULL,NULL,1.79505915021674633024e+09,NULL,0,'',NULL,'{"n":3}',NULL);
INSERT INTO "windvane_events" VALUES(1,8,'told',1.79497275022068691254e+09,4,'[0.36503055456932665]',0.75,NULL,NULL,4,0,'','{"time":4.0,"mean":0.0,"std":1.0,"noise_variance":0.01,"log_density":-1.2023790451659102,"statistic":1.0,"threshold":2.0,"monitored":true,"elapsed":1,"kept":0,"size":1,"set_aside":false,"outlier":null,"beliefs":{},"change":null,"cause":"","told_variance":null,"values":[]}','{}','k3');
INSERT INTO "windvane_events" VALUES(1,9,'asked',1.79497275022470760344e+09,5,'[0.5783810069707276]',NULL,NULL,1.7950591502247076035e+09,NULL,0,'',NULL,'{"n":4}',NULL);
INSERT INTO "windvane_events" VALUES(1,10,'told',1.79497275022868609428e+09,5,'[0.5783810069707276]',1.0,NULL,NULL,5,0,'','{"time":5.0,"mean":0.42037311309565206,"std":0.8262572214447325,"noise_variance":0.01,"log_density":-0.9778654168326025,"statistic":2.0,"threshold":2.0,"monitored":true,"elapsed":2,"kept":0,"size":2,"set_aside":false,"outlier":null,"beliefs":{},"change":null,"cause":"","told_variance":null,"values":[]}','{}','k4');
INSERT INTO "windvane_events" VALUES(1,11,'corrected',1794972750.23119,2,'[0.0]',0.5,NULL,NULL,NULL,0,'sensor was cold','{"record":4,"was":0.25,"values":[],"told_variance":null,"from":0,"undone":[],"new":[],"size":2,"observations":5}','{}',NULL);
INSERT INTO "windvane_events" VALUES(1,12,'asked',1.79497275024468016624e+09,6,'[0.783729724968116]',NULL,NULL,1.7950591502446801663e+09,NULL,0,'',NULL,'{}',NULL);
CREATE TABLE windvane_schema (
	version INTEGER NOT NULL
);
INSERT INTO "windvane_schema" VALUES(3);
CREATE TABLE windvane_studies (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR(100) NOT NULL, 
	algorithm VARCHAR(100) NOT NULL, 
	goal VARCHAR(8) NOT NULL, 
	created DOUBLE NOT NULL, 
	definition TEXT NOT NULL, 
	head INTEGER NOT NULL, 
	trials INTEGER NOT NULL, 
	pending INTEGER NOT NULL, 
	tells INTEGER NOT NULL, 
	resets INTEGER NOT NULL, 
	failed INTEGER NOT NULL, 
	size INTEGER NOT NULL, 
	last_at DOUBLE, 
	last_reset INTEGER, 
	UNIQUE (name)
);
INSERT INTO "windvane_studies" VALUES(1,'old','r-gp-ucb','maximize',1.79497275018233156196e+09,'{"algorithm":"r-gp-ucb","space":{"type":"Box","bounds":[[0.0,1.0]]},"goal":"maximize","seed":3,"options":{"period":3,"kernel":{"type":"RBF","lengthscale":[0.2],"variance":1.0},"noise_variance":0.01},"expires_after":86400.0,"metadata":{}}',12,6,1,5,1,0,2,1.79497275024468016624e+09,3);
CREATE TABLE windvane_tokens (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	label VARCHAR(100) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	scopes VARCHAR(40) NOT NULL, 
	created DOUBLE NOT NULL, 
	UNIQUE (digest)
);
CREATE TABLE windvane_webhooks (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	study_id INTEGER, 
	url TEXT NOT NULL, 
	secret TEXT NOT NULL, 
	created DOUBLE NOT NULL, 
	FOREIGN KEY(study_id) REFERENCES windvane_studies (id) ON DELETE CASCADE
);
INSERT INTO "windvane_webhooks" VALUES(1,NULL,'http://127.0.0.1:9/hook','a secret of sixteen characters',1.79497275016885566708e+09);
CREATE INDEX windvane_events_trial ON windvane_events (study_id, trial);
CREATE INDEX windvane_events_resets ON windvane_events (study_id, seq) WHERE reset;
CREATE UNIQUE INDEX windvane_events_key ON windvane_events (study_id, "key") WHERE "key" IS NOT NULL;
CREATE INDEX windvane_deliveries_due ON windvane_deliveries (status, not_before);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('windvane_webhooks',1);
INSERT INTO "sqlite_sequence" VALUES('windvane_studies',1);
INSERT INTO "sqlite_sequence" VALUES('windvane_deliveries',1);
COMMIT;
